#include "sim/inputs/published_words.hpp"

#include <cmath>

#include "kernels/compressor.hpp"
#include "sim/base/table.hpp"
#include "sim/base/units.hpp"
#include "sim/inputs/published_accuracy.hpp"

namespace gradcast {
namespace {

std::string gap_words(const AccuracyGap& gap) {
  const double below = gap.of_dense - gap.percent;
  return "ended at " + number_to_text(gap.percent) + " %, " + fixed(std::abs(below), 1) +
         " points " + (below >= 0 ? "below" : "above") + " dense";
}

}  // namespace

std::string published_accuracy_words(const std::string& model, const std::string& compressor,
                                     double density, DataFiles& files) {
  DataFiles others = files.beside();  // what is looked at here need not be an input of the answer
  const Compressor* known = find_compressor(compressor);
  const bool sparse = known != nullptr && known->family == Family::Sparsifier;
  std::string words;
  for (const std::string& name : others.names(kPublishedAccuracies)) {
    const auto rows =
        others.parsed(others.read(kPublishedAccuracies, name), load_published_accuracies);
    const auto gap = published_gap(*rows, model, compressor, density);
    if (!gap) continue;
    (void)files.read(kPublishedAccuracies, name);
    words += (words.empty() ? "Time is not all: " : "; ") + model + " with " + compressor +
             (sparse ? " at density " + number_to_text(density) : "") + " on " +
             std::to_string(gap->workers) + " workers " + gap_words(*gap) + " (" + name +
             ", one training each)";
  }
  return words.empty() ? "" : words + ".";
}

}  // namespace gradcast
