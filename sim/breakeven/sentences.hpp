// Findings in sentences.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "sim/breakeven/finding.hpp"
#include "sim/breakeven/quantity.hpp"

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
  Finding physics;
  std::optional<Finding> fitted;
  std::string costs{};     // basis of scaled costs; "" if they are not scaled
  std::string accuracy{};  // final accuracies of published trainings, a sentence; "" if not known
};

/// "gaussian pays against dense up to 38.2 Gb/s; above it does not"
std::string clause_of(const Told& told, const Finding& finding);

/// A part of the range in which the two estimates disagree.
struct Dispute {
  double low = 0;
  double high = 0;
  bool physics_pays = false;
};

/// The disagreements wider than 1 %, in rising order. For whole numbers both ends are included.
std::vector<Dispute> disputes_between(const Finding& physics, const Finding& fitted);

/// The sentences: physics alone; the fitted forecast with its interval; whether the two agree; the
/// source of the costs.
std::vector<std::string> sentences_of(const Told& told);

}  // namespace gradcast
