// Vectors u that trainings recorded (`gradcast train --record`), as inputs of compressors.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "kernels/bench/bench.hpp"
#include "sim/calibration/points.hpp"
#include "sim/inputs/data_files.hpp"

namespace gradcast {

struct RecordedFile {
  std::shared_ptr<const RecordedInput> input;
  InputFile file;
};

/// True for a word that names a file of a vector: it ends in ".npy".
bool is_recorded(const std::string& word);

/// Its name is the file's, without folders. Throws DataError for a file that is no vector, or one
/// with elements that are not finite.
RecordedFile read_recorded(const std::string& path);

/// Throws UsageError where two have the same name: rows of a cost table could not tell them apart.
void require_names_differ(const std::vector<RecordedFile>& files);

/// Throws UsageError where a vector has fewer elements than one of the sets.
void require_long_enough(const std::vector<RecordedFile>& files,
                         const std::vector<TensorSet>& sets);

/// Each vector as one tensor, once each.
std::vector<TensorSet> own_sizes(const std::vector<RecordedFile>& files);

/// A vector's description in a cost table, beside its name: its size and SHA-256.
std::string described(const RecordedFile& file);

}  // namespace gradcast
