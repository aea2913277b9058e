// The load of each link over time.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "sim/base/units.hpp"

namespace gradcast {

/// The load from `at` until the next change.
struct LoadChange {
  Seconds at{0};
  BytesPerSecond rate;
};

/// One direction of a link, by its name in the topology. Before the first change it carries
/// nothing; dates rise.
struct LinkLoad {
  std::string name;
  std::vector<LoadChange> changes{};
};

/// Changes of all links together that a record keeps.
inline constexpr std::size_t kMostLoadChanges = 50'000;
/// If there is not room for every change, and there are more links than this, the links of a kind
/// are added up.
inline constexpr std::size_t kMostLinksApart = 250;

struct BoundedLoads {
  std::vector<LinkLoad> links{};
  std::string note{};  // what was done to have so few; "" for nothing
};

/// The loads up to `end` in at most about `most` changes, without links that carry nothing. If
/// there are more changes, each of equal windows of time gets its mean load, so that every link
/// carries as many bytes as before (to 6 digits). If there are then more than kMostLinksApart
/// links, those of a kind are added up: "node3.nic0.up" and all like it become "all node.nic.up".
BoundedLoads bounded(std::vector<LinkLoad> links, Seconds end, std::size_t most = kMostLoadChanges);

/// Collects changes in bounded memory.
class LoadRecorder {
 public:
  /// `memory`: the number of changes beyond which windows take their place.
  explicit LoadRecorder(const std::vector<std::string>& names, std::size_t memory = 4'000'000);

  /// A load that equals the one before is not kept. `at` must not fall.
  void note(std::size_t link, Seconds at, BytesPerSecond rate);

  /// May be called once.
  BoundedLoads take(Seconds end);

 private:
  std::vector<LinkLoad> links_;
  std::vector<double> last_;  // rate of each
  std::size_t changes_ = 0;
  std::size_t memory_;
};

}  // namespace gradcast
