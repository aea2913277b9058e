#include "sim/base/block_reader.hpp"

#include <catch2/catch.hpp>

#include "sim/base/error.hpp"
#include "tests/read_unpacked.hpp"
#include "tests/temporary_folder.hpp"

using namespace gradcast;
using Catch::Contains;

namespace {

std::string packed(const std::string& text) {
  Gzip gzip;
  gzip.add(text);
  return gzip.finish();
}

/// Hardly packs, and is longer than the blocks of any side.
std::string numbers() {
  std::string text;
  for (int i = 0; i < 200'000; ++i) text += std::to_string(i * 7919 % 100'003) + ",";
  return text;
}

std::string read_back(const std::string& bytes, std::size_t most = kLongestTextFile) {
  const TemporaryFolder folder;
  return read_unpacked(folder.write("t", bytes), most);
}

}  // namespace

TEST_CASE("a file is read whole, block by block") {
  CHECK(read_back("").empty());
  CHECK(read_back("a\nb") == "a\nb");
  CHECK(read_back(numbers()) == numbers());
}

TEST_CASE("gzip is unpacked whatever the file is called, in one member or several") {
  if (!gzip_built()) return;
  const std::string text = numbers();
  CHECK(read_back(packed(text)) == text);
  CHECK(read_back(packed("")).empty());
  CHECK(read_back(packed(text) + packed("more")) == text + "more");
  CHECK(read_back(packed(text) + std::string(300'000, '\0')) == text);  // as tape drives pad
}

TEST_CASE("a member of every length near a block's unpacks") {
  if (!gzip_built()) return;
  for (std::size_t length = 65'530; length < 65'545; ++length)
    CHECK(read_back(packed(std::string(length, 'x'))).size() == length);
}

TEST_CASE("gzip that is cut off or damaged is refused") {
  if (!gzip_built()) return;
  std::string bytes = packed(numbers());
  const std::string cut = bytes.substr(0, bytes.size() - 3);
  CHECK_THROWS_WITH(read_back(cut), Contains("the gzip data is cut off after " +
                                             std::to_string(cut.size()) + " bytes"));
  CHECK_THROWS_WITH(read_back(bytes.substr(0, 2)), Contains("cut off after 2 bytes"));
  CHECK_THROWS_WITH(read_back(bytes + "\x1f\x8b"), Contains("cut off"));
  bytes[bytes.size() - 6] ^= 1;  // in the checksum
  CHECK_THROWS_WITH(read_back(bytes), Contains("damaged"));
}

TEST_CASE("a file that is longer than allowed is refused, before or after unpacking") {
  CHECK(read_back("0123456789", 10).size() == 10);
  CHECK_THROWS_WITH(read_back("0123456789", 9), Contains("has more than 9 bytes"));
  if (!gzip_built()) return;
  CHECK_THROWS_WITH(read_back(packed(numbers()), 1000),
                    Contains("has more than 1000 bytes when it is unpacked"));
}

TEST_CASE("gzip that is made to fill a memory is refused long before") {
  if (!gzip_built()) return;
  CHECK(read_back(packed(std::string(4'000'000, ' '))).size() == 4'000'000);  // allowed
  CHECK_THROWS_WITH(read_back(packed(std::string(50'000'000, ' '))),
                    Contains("unpacks to more than 250 times its size"));
}

TEST_CASE("a folder and a file that is not there are refused") {
  CHECK_THROWS_WITH(read_unpacked("/"), "/: cannot read this file: Is a directory");
  CHECK_THROWS_WITH(read_unpacked("/nowhere/x"),
                    "/nowhere/x: cannot read this file: No such file or directory");
  CHECK_THROWS_AS(read_unpacked("/proc/self/mem"), DataError);
}
