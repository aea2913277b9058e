// room: inputs
// words: sim/inputs/collective_curve.cpp

#include "sim/inputs/collective_curve.hpp"
#include "tests/fuzz/harness.hpp"

namespace gradcast::fuzz {
namespace {

void read(const std::string& bytes) {
  const CollectiveCurve curve = load_collective_curve(text_file(bytes, "collectives-m.csv"));
  const CollectiveCurve again =
      load_collective_curve({"collectives-m.csv", collective_curve_csv(curve, {"provenance"})});
  require(again.size() == curve.size(), "measured times are read back");
  require(curve_of(curve) == curve, "a curve is sorted, and has each case once");
}

const Harness harness("collective_curve", read);

}  // namespace
}  // namespace gradcast::fuzz
