#include "sim/lab/dataset.hpp"

#include <algorithm>
#include <cmath>

#include "sim/lab/draws.hpp"

namespace gradcast::lab {

void Dataset::copy(const Samples& from, const std::uint32_t* places, std::size_t count,
                   float* to) const {
  const std::size_t size = shape.size();
  const auto scale = static_cast<float>(1 / deviation);
  const auto offset = static_cast<float>(mean);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint8_t* bytes = from.bytes.data() + places[i] * size;
    for (std::size_t n = 0; n < size; ++n) *to++ = (static_cast<float>(bytes[n]) - offset) * scale;
  }
}

const char* to_text(DatasetKind kind) { return kind == DatasetKind::Text ? "text" : "images"; }

void measure_elements(Dataset& dataset) {
  // Counts how often each value occurs: exact, and fast for 47 million values.
  std::vector<double> counts(256);
  for (const std::uint8_t byte : dataset.training.bytes) ++counts[byte];
  const auto all = static_cast<double>(dataset.training.bytes.size());
  double sum = 0;
  for (std::size_t i = 0; i < 256; ++i) sum += counts[i] * static_cast<double>(i);
  dataset.mean = sum / all;
  double squares = 0;
  for (std::size_t i = 0; i < 256; ++i)
    squares += counts[i] * std::pow(static_cast<double>(i) - dataset.mean, 2);
  dataset.deviation = squares > 0 ? std::sqrt(squares / all) : 1;
}

namespace {

constexpr int kSide = 28;
constexpr std::size_t kPixels = kSide * kSide;
constexpr int kClasses = 10;
constexpr std::size_t kSpots = 6;       // per class
constexpr double kSpotRadius = 3;       // pixels
constexpr double kSeen = 0.75;          // probability that a sample shows a spot of its class
constexpr double kNoise = 110;          // largest value, on a scale of 255
constexpr std::uint64_t kMadeSeed = 1;  // the data do not depend on the training's seed

struct Spot {
  double y, x;
};

std::vector<Spot> spots_of(int label) {
  Draws draws(kMadeSeed, Draw::Samples, static_cast<std::uint64_t>(label));
  std::vector<Spot> spots(kSpots);
  for (Spot& spot : spots) spot = {draws.next() * kSide, draws.next() * kSide};
  return spots;
}

Samples made_samples(std::size_t count, std::uint64_t first) {
  std::vector<std::vector<Spot>> spots;
  for (int label = 0; label < kClasses; ++label) spots.push_back(spots_of(label));
  Samples samples;
  for (std::size_t i = 0; i < count; ++i) {
    Draws draws(kMadeSeed, Draw::Samples, first + i);
    const auto label = static_cast<std::uint8_t>(i % kClasses);
    std::vector<double> pixels(kPixels);
    for (double& pixel : pixels) pixel = kNoise * draws.next();
    for (const Spot& spot : spots[label]) {
      if (draws.next() > kSeen) continue;
      for (int y = 0; y < kSide; ++y)
        for (int x = 0; x < kSide; ++x)
          pixels[static_cast<std::size_t>(y * kSide + x)] +=
              100 * std::exp(-(std::pow(y - spot.y, 2) + std::pow(x - spot.x, 2)) /
                             (kSpotRadius * kSpotRadius));
    }
    for (const double pixel : pixels)
      samples.bytes.push_back(static_cast<std::uint8_t>(std::min(pixel, 255.0)));
    samples.labels.push_back(label);
  }
  return samples;
}

}  // namespace

Dataset made_dataset() {
  Dataset dataset;
  dataset.name = "made";
  dataset.shape = {1, kSide, kSide};
  dataset.classes = kClasses;
  dataset.training = made_samples(6000, 1000);
  dataset.test = made_samples(1000, 1'000'000);
  measure_elements(dataset);
  return dataset;
}

}  // namespace gradcast::lab
