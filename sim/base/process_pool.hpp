// Independent pieces of work in several processes: engines keep state that threads cannot share.
#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace gradcast {

/// What a pool does.
struct PoolWork {
  /// In some process; the answer is any bytes. What it throws ends the pool.
  std::function<std::string(std::size_t item)> work;
  /// Here, one at a time, in any order.
  std::function<void(std::size_t item, const std::string& answer)> done;
  /// Asked between items: true ends the pool when what is under way is done.
  std::function<bool()> stop = [] { return false; };
  /// Of the item, for a complaint.
  std::function<std::string(std::size_t item)> name = [](std::size_t item) {
    return "item " + std::to_string(item);
  };
};

/// Does all items, in their order, in so many processes beside this one. An exception that leaves
/// `work` comes back as std::runtime_error with the same text (an Error with its exit code); a
/// process that dies as an Error (1) that names the item.
void run_in_pool(std::size_t processes, const std::vector<std::size_t>& items,
                 const PoolWork& pool);

}  // namespace gradcast
