// room: inputs
// words: sim/inputs/sent_counts.cpp

#include "sim/base/error.hpp"
#include "sim/inputs/sent_counts.hpp"
#include "tests/fuzz/harness.hpp"

namespace gradcast::fuzz {
namespace {

void read(const std::string& bytes) {
  const SentCounts counts = load_sent_counts(text_file(bytes, "counts.csv"));
  std::size_t left = 0;
  for (const IterationCounts& one : counts.iterations) {
    require(one.sent.size() == counts.workers(), "each iteration has all workers");
    const SentShare share = sent_share_of(counts, one.density);
    require(share.iterations + share.left_out == counts.iterations.size(),
            "an iteration is of the density or left out");
    require(0 <= share.p10 && share.p10 <= share.p90, "quantiles rise");
    require(share.worker_spread >= 0, "a spread is not negative");
    if (++left == 10) break;  // each looks at all iterations
  }
  require(sent_share_of(counts, {}).density == counts.iterations.back().density,
          "the last iteration's density is the usual one");
}

const Harness harness("sent_counts", read);

}  // namespace
}  // namespace gradcast::fuzz
