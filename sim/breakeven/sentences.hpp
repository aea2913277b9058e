// Findings in sentences.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "sim/breakeven/finding.hpp"
#include "sim/breakeven/quantity.hpp"
#include "sim/breakeven/stretches.hpp"

namespace gradcast {

/// A value as people write it: "38.2 Gb/s", "3 nodes (12 GPUs)", "density 0.002", "kernels 2.4
/// times as slow". `gpus_per_node` 0: nodes differ.
std::string in_words(Quantity quantity, double value, int gpus_per_node);

/// "between 29 and 51 Gb/s", with this many significant digits.
std::string between_in_words(Quantity quantity, double low, double high, int gpus_per_node,
                             int digits);

struct Told {
  Quantity over = Quantity::NicBandwidth;
  std::string setting;     // "resnet-50 on 10gbe-4x4 (4 nodes of 4 GPUs)"
  std::string compressor;  // "gaussian", or "gaussian at density 0.001"
  std::string against;
  bool could_choose = false;  // among schedules, with --fusion best
  int gpus_per_node = 0;      // 0: nodes differ
  std::string software;       // for the fitted forecasts: "10gbe-4x4-fitted"
  /// Compressors without fitted runs: neither answer includes the time that their software takes
  /// besides their kernels.
  std::vector<std::string> unfitted{};
  std::vector<std::string> guessed{};  // compressors with a GPU's costs, guessed for a CPU
  Finding physics;
  std::optional<Finding> fitted;
  std::string costs{};     // basis of scaled costs; "" if they are not scaled
  std::string accuracy{};  // final accuracies of published trainings, a sentence; "" if not known
  bool verbose = false;    // with the names of software costs that have no data here
};

/// The finding that tells the answer: the forecast with software, else physics alone.
const Finding& told_by(const Told& told);

/// The verdicts along the range.
std::vector<VerdictStretch> verdicts_of(const Told& told);

/// The measurement that would tell where it cannot be told; "" where it can be told everywhere.
std::string measure_of(const Told& told);

/// "faster up to 38.2 Gb/s; above it is not": which forecast is the shorter one, without an error.
std::string clause_of(const Told& told, const Finding& finding);

/// The sentences: the verdict; by how much, with the interval; why, by the forecast itself and by
/// physics alone; what the costs rest on.
std::vector<std::string> sentences_of(const Told& told);

}  // namespace gradcast
