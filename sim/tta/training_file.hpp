// Reads training files: the accuracy after each number of iterations. `gradcast train` writes such
// files; others may, as JSON or as CSV.
#pragma once
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/value_type.hpp"
#include "sim/base/text_file.hpp"

namespace gradcast {

/// Between two settings of TrainingSetup::settings.
inline constexpr const char* kBetweenSettings = ", ";

/// Settings of a training apart from its seed. Trainings that differ only in the seed have the
/// same.
struct TrainingSetup {
  std::string network;
  std::string dataset;
  std::string compressor;
  std::string mode;    // "", "paper" or "code"
  double density = 1;  // 1 for dense
  int workers = 0;
  int batch = 0;                      // samples an iteration and worker
  std::optional<double> parameter{};  // the compressor's; nullopt: its source's
  ValueType value_type = ValueType::Fp32;
  bool adds_up = false;    // workers shared a seed or a scale, so that an all-reduce can carry it
  std::string settings{};  // all other settings given: "feedback no, momentum 0.9"

  bool dense() const { return compressor == "dense"; }
  friend auto operator<=>(const TrainingSetup&, const TrainingSetup&) = default;
};

/// One evaluation on the data that was kept from training.
struct TestedAccuracy {
  std::int64_t iteration = 0;  // done before it
  double percent = 0;
};

/// One training from its beginning.
struct TrainingRun {
  std::string file;
  TrainingSetup setup;
  std::uint32_t seed = 0;
  std::optional<std::int64_t> parameters{};  // the network's
  std::optional<double> sent_elements{};     // per worker, the mean over iterations
  std::int64_t sent_iterations = 0;          // iterations of that mean
  std::vector<TestedAccuracy> tests;         // rising iterations; at least one
};

/// The trainings of a file, in its order. JSON is an object with `results`, a row an evaluation;
/// `summary` or the document may hold values that a row lacks. CSV has the same columns. Unknown
/// columns and members are ignored. Throws DataError.
std::vector<TrainingRun> read_training(const TextFile& file);

}  // namespace gradcast
