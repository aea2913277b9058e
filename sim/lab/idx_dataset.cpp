// A dataset of four IDX files.
#include <algorithm>

#include "sim/base/block_reader.hpp"
#include "sim/base/error.hpp"
#include "sim/base/sha256.hpp"
#include "sim/base/text_file.hpp"
#include "sim/lab/dataset.hpp"
#include "sim/lab/idx.hpp"

namespace gradcast::lab {
namespace {

TextFile read_either(const std::filesystem::path& folder, const std::string& name,
                     std::vector<InputFile>& inputs) {
  for (const char* ending : {"", ".gz"}) {
    const std::filesystem::path path = folder / (name + ending);
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored)) continue;
    TextFile file{path, {}};
    BlockReader reader(path);
    for (std::string_view block = reader.next(); !block.empty(); block = reader.next())
      file.content += block;
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
