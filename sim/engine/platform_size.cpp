#include "sim/engine/platform_size.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include "sim/base/limits.hpp"
#include "sim/base/text.hpp"
#include "sim/engine/xml_tags.hpp"
#include "sim/inputs/cluster.hpp"

namespace gradcast {
namespace {

/// More than any limit, and far from overflowing when a few of it are added.
constexpr std::int64_t kTooMany = std::int64_t{1} << 40;

std::int64_t product(std::int64_t a, std::int64_t b) {
  return a > 0 && b > kTooMany / a ? kTooMany : a * b;
}

/// A count of 0 still makes one of what stands above it.
std::int64_t at_least_one(std::int64_t count) { return std::max<std::int64_t>(1, count); }

/// Counts what a platform asks for, tag by tag.
class PlatformSize {
 public:
  explicit PlatformSize(const TextFile& file) : file_(file) {}

  void run() {
    if (file_.content.size() > kLongestPlatform)
      throw DataError(file_.path.string(), 0,
                      "has " + std::to_string(file_.content.size()) +
                          " bytes; a platform file has " + std::to_string(kLongestPlatform) +
                          " at most");
    XmlTags tags(file_);
    while (tags.next(tag_)) take();
  }

 private:
  struct Zone {
    bool all_pairs;  // it keeps a route for each pair of its members
    std::int64_t members = 0;
  };

  DataError refusal(const std::string& what) const {
    return {file_.path.string(), tag_.line, what};
  }

  void take() {
    const bool zone = tag_.name == "zone" || tag_.name == "AS";
    if (tag_.closes) {
      if (zone && !zones_.empty()) zones_.pop_back();
      return;
    }
    if (tag_.name == "host" || tag_.name == "peer") add_hosts(1);
    if (tag_.name == "router") add_members(1);
    if (tag_.name == "cabinet") add_hosts(count_in(plain("radical")));
    if (tag_.name == "cluster") take_cluster();
    if (zone) take_zone();
  }

  /// A value that decides how much there is. SimGrid would read "&#50;" as 2.
  std::string_view plain(std::string_view attribute) const {
    const std::string_view value = tag_[attribute];
    if (value.find('&') != std::string_view::npos)
      throw refusal("the " + std::string(attribute) + " of <" + std::string(tag_.name) +
                    "> has '&' in it; write the characters themselves");
    return value;
  }

  std::int64_t number(std::string_view text, std::string_view attribute) const {
    const auto blank = [](char letter) { return letter == ' ' || letter == '\t'; };
    while (!text.empty() && blank(text.front())) text.remove_prefix(1);
    while (!text.empty() && blank(text.back())) text.remove_suffix(1);
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    // The largest int would never end: SimGrid counts up to it and one further.
    if (error == std::errc{} && end == text.data() + text.size() && number >= 0 &&
        number < std::numeric_limits<std::int32_t>::max())
      return number;
    throw refusal("the " + std::string(attribute) + " of <" + std::string(tag_.name) + "> has " +
                  in_quotes(text) + " in it, which is no number from 0 to 2147483646");
  }

  /// Numbers in a radical: 5 in "0-3,6".
  std::int64_t count_in(std::string_view radical) const {
    std::int64_t count = 0;
    for (const std::string& range : split_words(radical, ',')) {
      const std::size_t dash = range.find('-');
      const std::int64_t first = number(range.substr(0, dash), "radical");
      const std::int64_t last =
          dash == std::string::npos ? first : number(range.substr(dash + 1), "radical");
      count = std::min(kTooMany, count + std::max<std::int64_t>(0, last - first + 1));
    }
    return count;
  }

  void take_cluster() {
    add_zone();
    add_members(1);  // to the zone around it
    const std::string_view topology = plain("topology");
    const std::string_view parameters = plain("topo_parameters");
    hosts_ += count_in(plain("radical"));
    if (topology == "FAT_TREE") require_few_cables(groups_in(parameters));
    // Other topologies have as many hosts as the radicals say, or SimGrid complains.
    if (topology == "TORUS") hosts_ = std::max(hosts_, torus(groups_in(parameters)));
    if (topology == "DRAGONFLY") hosts_ = std::max(hosts_, dragonfly(groups_in(parameters)));
    require_few_hosts();
  }

  using Groups = std::vector<std::vector<std::int64_t>>;

  /// Numbers by group: {{3, 4}, {5}} for "3,4;5".
  Groups groups_in(std::string_view parameters) const {
    Groups groups;
    for (const std::string& group : split_words(parameters, ';')) {
      groups.emplace_back();
      for (const std::string& word : split_words(group, ','))
        groups.back().push_back(number(word, "topo_parameters"));
    }
    return groups;
  }

  /// "3,2,2": hosts in each direction.
  static std::int64_t torus(const Groups& groups) {
    std::int64_t hosts = 1;
    for (const std::int64_t size : groups.at(0)) hosts = product(hosts, size);
    return hosts;
  }

  /// "3,4;4,3;5,1;2": groups, chassis, routers and hosts, each but the last with its links.
  static std::int64_t dragonfly(const Groups& groups) {
    std::int64_t hosts = 1;
    for (const auto& group : groups) hosts = product(hosts, at_least_one(group.at(0)));
    return hosts;
  }

  /// "2;4,4;1,2;1,2": levels, and of each its children, parents and cables.
  void require_few_cables(const Groups& groups) const {
    if (groups.size() != 4) return;  // SimGrid says what is wrong
    const auto& [children, parents, cables] = std::tie(groups[1], groups[2], groups[3]);
    const std::size_t levels = std::min({children.size(), parents.size(), cables.size()});
    for (std::size_t level = 0; level < levels; ++level) {
      std::int64_t here = at_least_one(cables[level]);
      for (std::size_t i = 0; i <= level; ++i) here = product(here, at_least_one(parents[i]));
      for (std::size_t i = level; i < levels; ++i) here = product(here, at_least_one(children[i]));
      if (here > kMostNics)
        throw refusal("a level of the fat tree has more than " + std::to_string(kMostNics) +
                      " cables");
    }
  }

  void take_zone() {
    add_zone();
    add_members(1);
    std::string routing(plain("routing"));
    for (char& letter : routing)
      letter = static_cast<char>(letter >= 'A' && letter <= 'Z' ? letter - 'A' + 'a' : letter);
    if (tag_.empty) return;
    zones_.push_back({routing == "full" || routing == "floyd"});
    if (zones_.size() > kDeepestPlatform)
      throw refusal("zones stand in each other more than " + std::to_string(kDeepestPlatform) +
                    " deep");
  }

  void add_zone() {
    if (++zone_count_ > kMostPlatformZones)
      throw refusal("the platform has more than " + std::to_string(kMostPlatformZones) + " zones");
    require_few_hosts();
  }

  void add_hosts(std::int64_t count) {
    hosts_ += count;
    require_few_hosts();
    add_members(count);
  }

  void require_few_hosts() const {
    if (hosts_ > kMostRanks)
      throw refusal("the platform has " +
                    (hosts_ >= kTooMany ? "countless" : std::to_string(hosts_)) +
                    " hosts up to here; the most ranks are " + std::to_string(kMostRanks));
    if (zone_count_ * hosts_ > kMostZonesTimesHosts)
      throw refusal("the platform has " + std::to_string(hosts_) + " hosts and " +
                    std::to_string(zone_count_) +
                    " zones up to here; SimGrid looks through all "
                    "zones for each host, so that the two may multiply to " +
                    std::to_string(kMostZonesTimesHosts) + " at most");
  }

  void add_members(std::int64_t count) {
    if (zones_.empty()) return;
    Zone& zone = zones_.back();
    zone.members += count;
    if (zone.all_pairs && zone.members * zone.members > kMostRoutes)
      throw refusal("a zone of routing 'Full' or 'Floyd' has more than " +
                    std::to_string(zone.members - 1) + " members; it keeps a route for each pair");
  }

  const TextFile& file_;
  XmlTag tag_;
  std::vector<Zone> zones_;  // around the tag
  std::int64_t zone_count_ = 0;
  std::int64_t hosts_ = 0;
};

}  // namespace

void require_small_platform(const TextFile& file) { PlatformSize(file).run(); }

}  // namespace gradcast
