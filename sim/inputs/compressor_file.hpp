// A compressor that a file describes: compressors/NAME.csv, or a path. It has no kernels; its file
// says what it sends.
#pragma once
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/compressor.hpp"
#include "sim/base/text_file.hpp"

namespace gradcast {

/// Words of a described compressor stand in it, so it neither moves nor goes.
struct DescribedCompressor : Compressor {
  std::string own_name;  // the file's, without .csv
  std::string own_summary;
  std::string own_source;
  std::string formula;           // of the bytes that it sends
  PayloadFormula sent;           // the same, to be called
  Compressor trained;            // the definition that trains in its place, under its name
  std::string typed;             // how the user named the file
  std::string costs;             // the cost table that has its rows; "": none
  std::filesystem::path folder;  // where a relative path of its costs begins
};

/// Reads `compressors/NAME.csv`. Throws DataError.
std::unique_ptr<DescribedCompressor> load_compressor(const TextFile& file);

/// The description in a compressor's file; nullptr for one of the table.
const DescribedCompressor* described(const Compressor& compressor);

/// The source that find_compressor asks: a name of the data folder, a path, or the name of a file
/// that was read by its path. Each file is read once. Throws DataError.
const Compressor* find_described(std::string_view name);

/// Names of the data folder. Empty where there is none.
std::vector<std::string> described_names();

}  // namespace gradcast
