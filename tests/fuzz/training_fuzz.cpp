// room: tta
// seeds: tests/sim/tta/trainings/*.json
// words: sim/tta/training_file.cpp

#include "sim/tta/iterations_needed.hpp"
#include "sim/tta/trained_setups.hpp"
#include "sim/tta/tta_asked.hpp"
#include "tests/fuzz/harness.hpp"

namespace gradcast::fuzz {
namespace {

void read(const std::string& bytes) {
  const TrainedSetups setups = trained_setups(read_training(text_file(bytes, "training.json")));
  for (const TrainedSetup& setup : setups.all)
    for (const double target : percent_of(parse_targets("50,best"), setups)) {
      const IterationsNeeded needed = iterations_needed(setup, target);
      require(needed.reached <= needed.seeds, "no more trainings reach it than there are");
      require(needed.complete() != needed.not_within.has_value(), "each reached it or did not");
      if (const auto interval = interval_of(needed))
        require(interval->low <= *needed.median && *needed.median <= interval->high,
                "an interval holds its middle");
    }
}

const Harness harness("training", read);

}  // namespace
}  // namespace gradcast::fuzz
