// room: inputs
// seeds: traces/accuracy-*.csv
// words: sim/inputs/published_accuracy.cpp

#include "sim/inputs/published_accuracy.hpp"
#include "tests/fuzz/harness.hpp"

namespace gradcast::fuzz {
namespace {

void read(const std::string& bytes) {
  const PublishedAccuracies published =
      load_published_accuracies(text_file(bytes, "accuracy-x.csv"));
  for (const PublishedAccuracy& row : published.rows) {
    require(row.percent >= 0 && row.percent <= 100, "an accuracy is percent");
    if (const auto gap = published_gap(published, row.model, row.compressor, row.density))
      require(gap->workers > 0, "a training has workers");
  }
}

const Harness harness("published_accuracy", read);

}  // namespace
}  // namespace gradcast::fuzz
