// The binary files of CIFAR-10 (Krizhevsky, 2009): records of a label and an image in three
// colours.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "sim/lab/dataset.hpp"

namespace gradcast::lab {

/// True if the folder has the first of CIFAR-10's files, in whatever version.
bool holds_cifar(const std::filesystem::path& folder);

/// Appends a file's records to `samples`. `file` names it in errors. Throws DataError if the file
/// is empty, does not end with a record's end, or has a label above 9.
void read_cifar_records(const std::string& file, std::string_view content, Samples& samples);

/// Reads data_batch_1.bin to data_batch_5.bin and test_batch.bin. Adds each to `inputs`. Throws
/// DataError.
Dataset read_cifar_dataset(const std::string& name, const std::filesystem::path& folder,
                           std::vector<InputFile>& inputs);

}  // namespace gradcast::lab
