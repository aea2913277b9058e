// Training and test data of a network: samples with labels.
#pragma once
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "sim/inputs/data_files.hpp"
#include "sim/lab/layer.hpp"

namespace gradcast::lab {

/// Samples one after another, a byte an element, as files have them.
struct Samples {
  std::vector<std::uint8_t> bytes;
  std::vector<std::uint8_t> labels;  // `labels_each` of each sample
  std::size_t labels_each = 1;

  std::size_t count() const { return labels.size() / labels_each; }
  /// The labels of `count` samples from `first` on.
  std::span<const std::uint8_t> labels_of(std::size_t first, std::size_t count) const {
    return std::span(labels).subspan(first * labels_each, count * labels_each);
  }
};

enum class DatasetKind {
  Images,  // each with its class
  Text,    // windows of characters, each character with the one that follows it
};

const char* to_text(DatasetKind kind);  // "images", "text"

struct Dataset {
  std::string name;
  DatasetKind kind = DatasetKind::Images;
  Shape shape;
  int classes = 0;
  Samples training;
  Samples test;
  /// The network's input is (byte - mean) / deviation, over all elements of the training images.
  /// For text the input is the character's number.
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

/// Characters of a window of text.
inline constexpr int kTextWindow = 64;

/// Reads a text, or all files of a folder (not of folders within, no links) in the order of their
/// names as one text. Characters are bytes; those that occur are the classes. The last tenth is the
/// test. Adds each file to `inputs`. Throws DataError; at most 64 MiB.
Dataset read_text_dataset(const std::string& name, const std::filesystem::path& path,
                          std::vector<InputFile>& inputs);

/// A text that is computed: 40,000 letters, each followed by one of three that are its own, the
/// first of them half of the time. So nobody can predict more than half of it, but for letters
/// whose three are not all different.
Dataset made_text_dataset();

/// Samples that are computed, for trials where no data is installed: each class is a few bright
/// spots at places of its own in 28 x 28 pixels, with noise. 6,000 to learn from, 1,000 to test.
Dataset made_dataset();

}  // namespace gradcast::lab
