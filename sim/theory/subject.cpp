#include "sim/theory/subject.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "sim/base/block_reader.hpp"
#include "sim/base/error.hpp"
#include "sim/base/npy.hpp"
#include "sim/base/random.hpp"
#include "sim/base/sha256.hpp"
#include "sim/base/text.hpp"
#include "sim/theory/law.hpp"

namespace gradcast {
namespace {

bool is_number_word(const std::string& word) {
  double number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  return error == std::errc() && end == word.data() + word.size();
}

}  // namespace

std::vector<std::string> subject_words(std::string_view text) {
  std::vector<std::string> words;
  for (const std::string& word : split_words(text, ',')) {
    if (word.empty())
      throw ValueError(in_quotes(text) +
                       " has an empty entry; write a list like 'normal:8,1,signs'");
    if (!is_number_word(word))
      words.push_back(word);
    else if (words.empty())
      throw ValueError(in_quotes(word) +
                       " is no distribution; parameters follow a name, like "
                       "'normal:8,1'");
    else
      words.back() += "," + word;
  }
  std::vector<std::string> once;
  for (const std::string& word : words)
    if (std::find(once.begin(), once.end(), word) == once.end()) once.push_back(word);
  return once;
}

Subject read_subject(const std::string& word) {
  Subject subject;
  subject.name = word;
  if (!word.ends_with(".npy")) {
    subject.law = parse_law(word);
    return subject;
  }
  const std::string bytes = bytes_of_file(word, kNpyMagic, kLongestNpyFile);
  subject.vector = npy_vector(bytes, word);
  subject.input = {word, sha256_hex(bytes), word};
  require_ratio(subject.vector, word);
  return subject;
}

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
