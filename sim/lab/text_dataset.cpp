// A dataset of text: windows of characters, each with the character that follows it.
#include <algorithm>
#include <array>

#include "sim/base/error.hpp"
#include "sim/base/paths.hpp"
#include "sim/base/sha256.hpp"
#include "sim/base/text_file.hpp"
#include "sim/lab/dataset.hpp"
#include "sim/lab/draws.hpp"

namespace gradcast::lab {
namespace {

constexpr std::size_t kLongestText = 64 << 20;  // bytes of all files
constexpr std::size_t kTestPart = 10;           // the last tenth
constexpr std::size_t kWindow = kTextWindow;

/// Windows beside each other, as many as fit.
Samples windows_of(std::string_view text, const std::array<std::uint8_t, 256>& tokens) {
  Samples samples;
  samples.labels_each = kWindow;
  const auto token = [&](char c) { return tokens[static_cast<unsigned char>(c)]; };
  for (std::size_t first = 0; first + kWindow < text.size(); first += kWindow)
    for (std::size_t i = first; i < first + kWindow; ++i) {
      samples.bytes.push_back(token(text[i]));
      samples.labels.push_back(token(text[i + 1]));
    }
  return samples;
}

Dataset dataset_of(const std::string& name, std::string_view text) {
  Dataset dataset;
  dataset.name = name;
  dataset.kind = DatasetKind::Text;
  dataset.shape = {static_cast<int>(kWindow), 1, 1};
  std::array<bool, 256> there{};
  for (const char c : text) there[static_cast<unsigned char>(c)] = true;
  std::array<std::uint8_t, 256> tokens{};  // the bytes that occur, numbered in their order
  for (std::size_t byte = 0; byte < there.size(); ++byte)
    if (there[byte]) tokens[byte] = static_cast<std::uint8_t>(dataset.classes++);
  const std::size_t learned = text.size() - text.size() / kTestPart;
  dataset.training = windows_of(text.substr(0, learned), tokens);
  dataset.test = windows_of(text.substr(learned), tokens);
  return dataset;
}

std::vector<std::filesystem::path> files_of(const std::filesystem::path& path) {
  std::error_code problem;
  if (!std::filesystem::is_directory(path, problem)) return {path};
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(path, problem))
    if (!entry.is_symlink() && entry.is_regular_file()) files.push_back(entry.path());
  if (problem) throw DataError(path.string(), 0, "cannot be read: " + problem.message());
  if (files.empty()) throw DataError(path.string(), 0, "has no files: texts are due");
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

Dataset read_text_dataset(const std::string& name, const std::filesystem::path& path,
                          std::vector<InputFile>& inputs) {
  std::string text;
  for (const std::filesystem::path& file : files_of(path)) {
    require_regular(file);
    std::error_code ignored;
    if (const auto size = std::filesystem::file_size(file, ignored);
        !ignored && size > kLongestText - text.size())
      throw DataError(file.string(), 0,
                      "makes more than " + std::to_string(kLongestText >> 20) +
                          " MiB of text; that is the most");
    text += read_text_file(file, kLongestText).content;
    inputs.push_back({file.string(), sha256_of_file(file), file});
  }
  const std::size_t least = kTestPart * (kWindow + 1);
  if (text.size() < least)
    throw DataError(path.string(), 0,
                    "has " + std::to_string(text.size()) +
                        " characters; a training takes at least " + std::to_string(least));
  return dataset_of(name, text);
}

Dataset made_text_dataset() {
  constexpr std::size_t kLength = 40'000;
  constexpr std::size_t kLetters = 20;
  constexpr std::size_t kNext = 3;        // letters that may follow one
  constexpr std::uint64_t kMadeSeed = 1;  // the text does not depend on the training's seed
  std::array<std::array<std::size_t, kNext>, kLetters> next{};
  Draws letters(kMadeSeed, Draw::Samples, 1);
  for (auto& follow : next)
    for (std::size_t& letter : follow) letter = letters.below(kLetters);
  Draws steps(kMadeSeed, Draw::Samples, 2);
  std::string text;
  std::size_t letter = 0;
  while (text.size() < kLength) {
    text += static_cast<char>('a' + letter);
    // The first that may follow does so in two of four cases.
    letter = next[letter][std::min(steps.below(kNext + 1), kNext - 1)];
  }
  return dataset_of("made", text);
}

}  // namespace gradcast::lab
