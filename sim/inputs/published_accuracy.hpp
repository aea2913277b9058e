// Accuracies that others published, after full trainings with a compressor and without.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "sim/base/text_file.hpp"
#include "sim/inputs/data_files.hpp"

namespace gradcast {

inline constexpr DataKind kPublishedAccuracies{"published accuracies", "traces", "accuracy-"};

struct PublishedAccuracy {
  std::string model;
  std::string dataset;
  std::string compressor;
  double density = 1;  // of dense 1
  int workers = 0;
  std::string optimizer;
  bool error_feedback = false;  // what was not sent is sent later, as the project's compressors do
  double percent = 0;
};

struct PublishedAccuracies {
  std::string source;  // the line `# source:`
  std::vector<PublishedAccuracy> rows;
};

/// Reads `traces/accuracy-<source>.csv`. Throws DataError.
PublishedAccuracies load_published_accuracies(const TextFile& file);

/// Accuracy of a training with the compressor, beside dense with the same model, data set, workers
/// and optimizer. Error feedback is as the compressor usually has it; a sparsifier's density must
/// match. nullopt if nobody published both.
struct AccuracyGap {
  double percent = 0;
  double of_dense = 0;
  int workers = 0;
};
std::optional<AccuracyGap> published_gap(const PublishedAccuracies& published,
                                         const std::string& model, const std::string& compressor,
                                         double density);

}  // namespace gradcast
