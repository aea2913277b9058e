#include "sim/theory/subject.hpp"

#include <algorithm>
#include <charconv>

#include "sim/base/block_reader.hpp"
#include "sim/base/error.hpp"
#include "sim/base/npy.hpp"
#include "sim/base/sha256.hpp"
#include "sim/base/text.hpp"
#include "sim/theory/laws.hpp"
#include "sim/theory/sample.hpp"

namespace gradcast {
namespace {

bool is_number_word(const std::string& word) {
  double number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  return error == std::errc() && end == word.data() + word.size();
}

std::string file_bytes(const std::string& path) {
  BlockReader file(path, kLongestNpyFile);
  std::string bytes;
  for (std::string_view block = file.next(); !block.empty(); block = file.next()) bytes += block;
  return bytes;
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
  const std::string bytes = file_bytes(word);
  subject.vector = npy_vector(bytes, word);
  subject.input = {word, sha256_hex(bytes), word};
  require_ratio(subject.vector, word);
  return subject;
}

}  // namespace gradcast
