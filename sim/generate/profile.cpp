#include "sim/generate/profile.hpp"

#include <array>

#include "sim/base/csv.hpp"

namespace gradcast {
namespace {
constexpr std::array kProfileColumns = {"operator", "parameters", "forward_seconds",
                                        "backward_seconds"};
constexpr double kLongest = 1e3;  // seconds
}  // namespace

std::vector<ProfiledOperator> load_profile(const TextFile& file) {
  std::vector<ProfiledOperator> profile;
  CsvReader rows(file, kProfileColumns);
  while (rows.next())
    profile.push_back({rows.word("operator"),
                       rows.integer("parameters", 1, INT32_MAX),
                       {Seconds{rows.number("forward_seconds", 0, kLongest)},
                        Seconds{rows.number("backward_seconds", 0, kLongest)}}});
  return profile;
}

std::vector<ComputeTime> match_profile(const Architecture& architecture, const TextFile& file) {
  const auto refuse = [&](const std::string& what) {
    return DataError(file.path.string(), 0, what);
  };
  const std::vector<ProfiledOperator> profile = load_profile(file);
  std::vector<ComputeTime> times;
  for (const Operator& each : architecture.operators()) {
    if (each.tensors.empty()) continue;
    if (times.size() == profile.size()) throw refuse("ends before layer '" + each.layer + "'");
    const ProfiledOperator& found = profile[times.size()];
    if (found.parameters != each.parameters())
      throw refuse("'" + found.name + "' has " + std::to_string(found.parameters) +
                   " parameters, layer '" + each.layer + "' in its place " +
                   std::to_string(each.parameters()));
    times.push_back(found.time);
  }
  if (times.size() != profile.size())
    throw refuse("goes on after the last layer with '" + profile[times.size()].name + "'");
  return times;
}

}  // namespace gradcast
