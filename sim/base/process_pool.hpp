// Does independent pieces of work in several processes. Processes, because engines keep state that
// threads cannot share.
#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace gradcast {

/// Callbacks of a pool.
struct PoolWork {
  /// Runs in some process; its answer is any bytes. An exception that it throws ends the pool.
  std::function<std::string(std::size_t item)> work;
  /// Runs in this process, for one item at a time, in any order.
  std::function<void(std::size_t item, const std::string& answer)> done;
  /// Called between items, and now and then: true ends the pool when the items under way are done,
  /// or after a moment without those that are not.
  std::function<bool()> stop = [] { return false; };
  /// The name of the item, for an error message.
  std::function<std::string(std::size_t item)> name = [](std::size_t item) {
    return "item " + std::to_string(item);
  };
};

/// Does all items, in their order, in `processes` processes beside this one. An exception that
/// leaves `work` is thrown here as std::runtime_error with the same text (an Error with its exit
/// code). For a process that dies, throws Error (1) with the name of the item.
void run_in_pool(std::size_t processes, const std::vector<std::size_t>& items,
                 const PoolWork& pool);

}  // namespace gradcast
