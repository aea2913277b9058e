#include "sim/lab/idx.hpp"

#include <algorithm>
#include <cstdint>

#include "sim/base/block_reader.hpp"
#include "sim/base/error.hpp"
#include "sim/base/paths.hpp"
#include "sim/base/sha256.hpp"
#include "sim/base/text_file.hpp"
#include "sim/lab/dataset.hpp"

namespace gradcast::lab {
namespace {

constexpr std::size_t kMostDimensions = 4;
constexpr std::uint8_t kUnsignedBytes = 8;           // the type's code
constexpr std::string_view kIdxBegin{"\0\0\10", 3};  // two zero bytes, and that type

std::size_t number_at(std::string_view content, std::size_t place) {
  std::size_t number = 0;
  for (std::size_t i = 0; i < 4; ++i)
    number = number << 8 | static_cast<std::uint8_t>(content[place + i]);
  return number;
}

/// The file of that name, packed or not.
TextFile read_either(const std::filesystem::path& folder, const std::string& name,
                     std::vector<InputFile>& inputs) {
  for (const char* ending : {"", ".gz"}) {
    const std::filesystem::path path = folder / (name + ending);
    if (entry_at(path) == Entry::None) continue;
    require_regular(path);
    TextFile file{path, bytes_of_file(path, kIdxBegin)};
    inputs.push_back({path.string(), sha256_of_file(path), path});
    return file;
  }
  throw DataError(folder.string(), 0, "there is no " + name + " or " + name + ".gz");
}

Samples read_samples(const std::filesystem::path& folder, const std::string& part,
                     std::vector<InputFile>& inputs, Shape& shape) {
  const TextFile images = read_either(folder, part + "-images-idx3-ubyte", inputs);
  const TextFile labels = read_either(folder, part + "-labels-idx1-ubyte", inputs);
  const Idx pixels = read_idx(images.path.string(), images.content);
  const Idx classes = read_idx(labels.path.string(), labels.content);
  if (pixels.sizes.size() != 3 || pixels.sizes[1] > 1024 || pixels.sizes[2] > 1024)
    throw DataError(images.path.string(), 0,
                    "is not a list of images of up to 1024 x 1024 pixels: 3 dimensions are due");
  if (classes.sizes.size() != 1)
    throw DataError(labels.path.string(), 0, "is not a list of labels: 1 dimension is due");
  if (pixels.sizes[0] != classes.sizes[0])
    throw DataError(labels.path.string(), 0,
                    "has " + std::to_string(classes.sizes[0]) + " labels for " +
                        std::to_string(pixels.sizes[0]) + " images");
  const Shape found{1, static_cast<int>(pixels.sizes[1]), static_cast<int>(pixels.sizes[2])};
  if (shape.size() > 1 && shape != found)
    throw DataError(images.path.string(), 0, "has images of another size than those to learn from");
  shape = found;
  return {{pixels.bytes.begin(), pixels.bytes.end()}, {classes.bytes.begin(), classes.bytes.end()}};
}

}  // namespace

Idx read_idx(const std::string& file, std::string_view content) {
  const auto fail = [&](const std::string& what) { throw DataError(file, 0, what); };
  if (content.size() < 4 || content[0] != 0 || content[1] != 0)
    fail("not an IDX file: these begin with two zero bytes, a type and a number of dimensions");
  const auto type = static_cast<std::uint8_t>(content[2]);
  if (type != kUnsignedBytes)
    fail("has elements of IDX type " + std::to_string(type) + "; unsigned bytes, type 8, are read");
  const auto dimensions = static_cast<std::size_t>(static_cast<std::uint8_t>(content[3]));
  if (dimensions == 0 || dimensions > kMostDimensions)
    fail("has " + std::to_string(dimensions) + " dimensions; 1 to 4 are read");
  const std::size_t header = 4 + 4 * dimensions;
  if (content.size() < header) fail("ends within its header");
  Idx idx;
  // Each size is below 2^32 and the file below 2^31 bytes, so dividing what is left never
  // overflows.
  std::size_t left = content.size() - header;
  bool fits = true;
  std::size_t product = 1;
  for (std::size_t i = 0; i < dimensions; ++i) {
    const std::size_t size = number_at(content, 4 + 4 * i);
    idx.sizes.push_back(size);
    fits = fits && size > 0 && product <= left / size;
    if (fits) product *= size;
  }
  if (!fits || product != left)
    fail("has " + std::to_string(left) + " bytes after its header, and its sizes say otherwise");
  idx.bytes = content.substr(header);
  return idx;
}

Dataset read_idx_dataset(const std::string& name, const std::filesystem::path& folder,
                         std::vector<InputFile>& inputs) {
  Dataset dataset;
  dataset.name = name;
  dataset.training = read_samples(folder, "train", inputs, dataset.shape);
  dataset.test = read_samples(folder, "t10k", inputs, dataset.shape);
  for (const Samples* samples : {&dataset.training, &dataset.test})
    dataset.classes = std::max(
        dataset.classes, 1 + *std::max_element(samples->labels.begin(), samples->labels.end()));
  measure_elements(dataset);
  return dataset;
}

}  // namespace gradcast::lab
