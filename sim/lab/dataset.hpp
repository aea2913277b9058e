// What a network learns from: samples with labels.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "sim/inputs/data_files.hpp"
#include "sim/lab/shape.hpp"

namespace gradcast::lab {

/// Samples one after another, a byte an element, as files have them.
struct Samples {
  std::vector<std::uint8_t> bytes;
  std::vector<std::uint8_t> labels;

  std::size_t count() const { return labels.size(); }
};

struct Dataset {
  std::string name;
  Shape shape;
  int classes = 0;
  Samples training;
  Samples test;
  /// The network's input is (byte - mean) / deviation: of all elements of the training samples.
  double mean = 0;
  double deviation = 1;

  /// Writes the samples at these places, one after another.
  void copy(const Samples& from, const std::uint32_t* places, std::size_t count, float* to) const;
};

/// Fills mean and deviation.
void measure_elements(Dataset& dataset);

/// Reads the four IDX files of MNIST and its relatives from a folder: train-images-idx3-ubyte,
/// train-labels-idx1-ubyte, t10k-images-idx3-ubyte, t10k-labels-idx1-ubyte, each also with .gz.
/// Adds each to `inputs`. Throws DataError.
Dataset read_idx_dataset(const std::string& name, const std::filesystem::path& folder,
                         std::vector<InputFile>& inputs);

/// Samples that are computed, for trials where no data is installed: each class is a few bright
/// spots at places of its own in 28 x 28 pixels, with noise. 6,000 to learn from, 1,000 to test.
Dataset made_dataset();

}  // namespace gradcast::lab
