#include "sim/theory/sample.hpp"

#include <algorithm>
#include <cmath>

#include "sim/base/error.hpp"
#include "sim/base/random.hpp"

namespace gradcast {

std::vector<float> drawn_from(const Law& law, std::int64_t elements, std::uint64_t seed) {
  std::vector<float> vector(static_cast<std::size_t>(elements));
  for (std::size_t i = 0; i < vector.size(); ++i)
    vector[i] = static_cast<float>(
        law.draw(uniform({seed, 0, Draw::Element, i}), uniform({seed, 1, Draw::Element, i})));
  return vector;
}

void require_ratio(const std::vector<float>& vector, const std::string& file) {
  for (std::size_t i = 0; i < vector.size(); ++i)
    if (!std::isfinite(vector[i]))
      throw DataError(file, 0,
                      std::string("has ") + (std::isnan(vector[i]) ? "a NaN" : "an infinity") +
                          " as element " + std::to_string(i) +
                          " (from 0): its square is no number to take a share of");
  if (std::all_of(vector.begin(), vector.end(), [](float element) { return element == 0; }))
    throw DataError(file, 0, "has only zeros: what Top-k leaves is 0 of 0");
}

double kurtosis_of(const std::vector<float>& vector) {
  double sum = 0;
  for (const float element : vector) sum += element;
  const double count = static_cast<double>(vector.size());
  const double mean = sum / count;
  double squares = 0;
  double fourths = 0;
  for (const float element : vector) {
    const double square = (element - mean) * (element - mean);
    squares += square;
    fourths += square * square;
  }
  return count * fourths / (squares * squares);
}

}  // namespace gradcast
