// room: sweep
// words: sim/sweep/plan.cpp sim/options/request_flags.cpp sim/inputs/cluster_properties.cpp
// longest: 1024

#include "sim/sweep/plan.hpp"
#include "tests/fuzz/harness.hpp"

namespace gradcast::fuzz {
namespace {

void read(const std::string& bytes) {
  Flags flags("sweep", "", {});
  add_sweep_axes(flags);
  flags.without_config();
  const char* words[] = {"sweep"};
  flags.parse(1, words);
  DataFiles files = DataFiles::standard();
  const SweepPlan plan = read_sweep_plan(flags, file_of(bytes, "plan.toml"), files);
  require(plan.points() >= 1 && plan.points() <= kMostPoints, "a plan has points to forecast");
  for (const std::int64_t number : {std::int64_t{0}, plan.points() - 1})
    require(plan.point(number).size() == plan.axes.size(), "a point has a value of each axis");
}

const Harness harness("sweep_plan", read);

}  // namespace
}  // namespace gradcast::fuzz
