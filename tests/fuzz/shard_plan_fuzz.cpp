// room: sweep
// words: sim/sweep/shard.cpp
// longest: 2048

#include "sim/sweep/shard.hpp"
#include "tests/fuzz/harness.hpp"

namespace gradcast::fuzz {
namespace {

void read(const std::string& bytes) {
  const std::filesystem::path file = file_of(bytes, "plan.json");
  const KeptPlan kept = kept_plan(file.parent_path(), "0.1.0");
  const std::int64_t points = kept.plan.points();
  require(points >= 1, "a plan has a point");
  DataFiles files = DataFiles::standard();
  request_of(kept.plan.point(points - 1), files);
}

const Harness harness("shard_plan", read);

}  // namespace
}  // namespace gradcast::fuzz
