// Text becomes windows of characters.
#include <catch2/catch.hpp>
#include <fstream>

#include "sim/base/error.hpp"
#include "sim/lab/dataset.hpp"
#include "tests/temporary_folder.hpp"

using namespace gradcast;
using namespace gradcast::lab;
using Catch::Contains;

namespace {

void write(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path) << text;
}

}  // namespace

// 1,000 characters "abcabc...": 900 to learn from, so 14 windows of 64 (and one to predict); 100 to
// test, one window. The classes are a, b and c: 0, 1 and 2.
TEST_CASE("each character of a window has the next one as its label", "[lab]") {
  const TemporaryFolder folder;
  std::string text;
  while (text.size() < 1000) text += "abc"[text.size() % 3];
  write(folder.path / "text", text);
  std::vector<InputFile> inputs;
  const Dataset dataset = read_text_dataset("text", folder.path / "text", inputs);
  CHECK(dataset.classes == 3);
  CHECK(dataset.shape == Shape{64, 1, 1});
  CHECK(dataset.training.count() == 14);
  CHECK(dataset.test.count() == 1);
  REQUIRE(dataset.training.bytes.size() == 14 * 64);
  CHECK(dataset.training.bytes[0] == 0);
  CHECK(dataset.training.labels[0] == 1);
  CHECK(dataset.training.bytes[64] == 64 % 3);
  CHECK(dataset.training.labels[64] == 65 % 3);
  CHECK(dataset.training.labels_of(1, 1).size() == 64);
  CHECK(dataset.test.bytes[0] == 900 % 3);
  CHECK(inputs.size() == 1);

  std::vector<float> copied(64);
  const std::uint32_t second = 1;
  dataset.copy(dataset.training, &second, 1, copied.data());
  CHECK(copied[0] == 1.0f);  // the character's number, as it is
}

TEST_CASE("files of a folder are one text, in the order of their names, without links", "[lab]") {
  const TemporaryFolder folder;
  write(folder.path / "2", std::string(700, 'b'));
  write(folder.path / "1", std::string(700, 'a'));
  std::filesystem::create_symlink(folder.path / "2", folder.path / "0");
  std::vector<InputFile> inputs;
  const Dataset dataset = read_text_dataset("text", folder.path, inputs);
  CHECK(dataset.training.bytes.front() == 0);
  CHECK(dataset.test.bytes.front() == 1);
  CHECK(inputs.size() == 2);
}

TEST_CASE("a text that is too short, or none, is one line", "[lab]") {
  const TemporaryFolder folder;
  std::vector<InputFile> inputs;
  CHECK_THROWS_WITH(read_text_dataset("x", folder.path, inputs), Contains("has no files"));
  write(folder.path / "short", "abc");
  CHECK_THROWS_WITH(read_text_dataset("x", folder.path / "short", inputs),
                    Contains("has 3 characters; a training takes at least 650"));
  CHECK_THROWS_AS(read_text_dataset("x", folder.path / "none", inputs), DataError);
}
