#include "sim/lab/cifar.hpp"

#include "sim/base/block_reader.hpp"
#include "sim/base/error.hpp"
#include "sim/base/paths.hpp"
#include "sim/base/sha256.hpp"

namespace gradcast::lab {
namespace {

constexpr int kCifarClasses = 10;
constexpr int kCifarBatches = 5;
constexpr Shape kCifarShape{3, 32, 32};  // red, green and blue planes, as the network takes them
constexpr std::size_t kMostCifarBytes = std::size_t{1} << 30;

std::string batch_name(int batch) { return "data_batch_" + std::to_string(batch); }

void read_file(const std::filesystem::path& folder, const std::string& name, Samples& samples,
               std::vector<InputFile>& inputs) {
  const std::filesystem::path path = folder / (name + ".bin");
  if (entry_at(path) == Entry::None)
    throw DataError(folder.string(), 0,
                    "there is no " + name +
                        ".bin: CIFAR-10 is read in its binary version, which "
                        "has data_batch_1.bin to data_batch_5.bin and test_batch.bin");
  require_regular(path);
  read_cifar_records(path.string(), bytes_of_file(path, "", kMostCifarBytes), samples);
  inputs.push_back({path.string(), sha256_of_file(path), path});
}

}  // namespace

bool holds_cifar(const std::filesystem::path& folder) {
  for (const char* ending : {".bin", ""})
    if (entry_at(folder / (batch_name(1) + ending)) != Entry::None) return true;
  return false;
}

void read_cifar_records(const std::string& file, std::string_view content, Samples& samples) {
  const std::size_t record = 1 + kCifarShape.size();
  if (content.empty() || content.size() % record != 0)
    throw DataError(file, 0,
                    "has " + std::to_string(content.size()) +
                        " bytes, which are no whole records of " + std::to_string(record) +
                        ": a label, then 32 x 32 bytes each of red, "
                        "green and blue");
  for (std::size_t i = 0; i < content.size() / record; ++i) {
    const std::string_view bytes = content.substr(i * record, record);
    const auto label = static_cast<std::uint8_t>(bytes[0]);
    if (label >= kCifarClasses)
      throw DataError(file, 0,
                      "record " + std::to_string(i + 1) + " has the label " +
                          std::to_string(label) + "; CIFAR-10's are 0 to 9");
    samples.labels.push_back(label);
    samples.bytes.insert(samples.bytes.end(), bytes.begin() + 1, bytes.end());
  }
}

Dataset read_cifar_dataset(const std::string& name, const std::filesystem::path& folder,
                           std::vector<InputFile>& inputs) {
  Dataset dataset;
  dataset.name = name;
  dataset.shape = kCifarShape;
  dataset.classes = kCifarClasses;
  for (int batch = 1; batch <= kCifarBatches; ++batch)
    read_file(folder, batch_name(batch), dataset.training, inputs);
  read_file(folder, "test_batch", dataset.test, inputs);
  measure_elements(dataset);
  return dataset;
}

}  // namespace gradcast::lab
