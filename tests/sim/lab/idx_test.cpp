#include "sim/lab/idx.hpp"

#include <catch2/catch.hpp>
#include <string>

#include "sim/base/error.hpp"
#include "sim/lab/dataset.hpp"
#include "tests/temporary_folder.hpp"

using namespace gradcast;
using namespace gradcast::lab;
using Catch::Contains;

namespace {

std::string idx_of(const std::vector<unsigned>& sizes, const std::string& bytes) {
  std::string content{'\0', '\0', '\x08', static_cast<char>(sizes.size())};
  for (const unsigned size : sizes)
    for (const int shift : {24, 16, 8, 0}) content += static_cast<char>(size >> shift & 0xff);
  return content + bytes;
}

}  // namespace

TEST_CASE("an IDX file gives its sizes and bytes", "[lab]") {
  const std::string content = idx_of({2, 1, 3}, "abcdef");
  const Idx idx = read_idx("x", content);
  CHECK(idx.sizes == std::vector<std::size_t>{2, 1, 3});
  CHECK(idx.bytes == "abcdef");
}

TEST_CASE("a file that is no IDX file of bytes is refused in one line", "[lab]") {
  CHECK_THROWS_WITH(read_idx("x", "PNG"), Contains("x: not an IDX file"));
  CHECK_THROWS_WITH(read_idx("x", std::string("\0\0\x0d\1\0\0\0\1", 8)), Contains("IDX type 13"));
  CHECK_THROWS_WITH(read_idx("x", std::string("\0\0\x08\7", 4)), Contains("has 7 dimensions"));
  CHECK_THROWS_WITH(read_idx("x", std::string("\0\0\x08\1\0\0", 6)), Contains("ends within"));
  CHECK_THROWS_WITH(read_idx("x", idx_of({2}, "a")), Contains("has 1 bytes after its header"));
  CHECK_THROWS_WITH(read_idx("x", idx_of({2}, "abc")), Contains("has 3 bytes"));
  // 2^32 - 1 squared overflows 64 bits when it is multiplied once more.
  CHECK_THROWS_WITH(read_idx("x", idx_of({0xffffffffu, 0xffffffffu, 0xffffffffu}, "a")),
                    Contains("sizes say otherwise"));
}

TEST_CASE("a folder of IDX files is a dataset, normalised to mean 0 and deviation 1", "[lab]") {
  const TemporaryFolder folder;
  folder.write("train-images-idx3-ubyte", idx_of({2, 1, 2}, std::string("\0\2\4\6", 4)));
  folder.write("train-labels-idx1-ubyte", idx_of({2}, std::string("\0\2", 2)));
  folder.write("t10k-images-idx3-ubyte", idx_of({1, 1, 2}, std::string("\3\3", 2)));
  std::vector<InputFile> inputs;
  CHECK_THROWS_WITH(read_idx_dataset("x", folder.path, inputs),
                    Contains("there is no t10k-labels-idx1-ubyte or t10k-labels-idx1-ubyte.gz"));
  folder.write("t10k-labels-idx1-ubyte", idx_of({1}, std::string("\1", 1)));
  const Dataset dataset = read_idx_dataset("x", folder.path, inputs);
  CHECK(dataset.classes == 3);
  CHECK(dataset.shape == Shape{1, 1, 2});
  CHECK(dataset.mean == 3);                          // mean of 0, 2, 4, 6
  CHECK(dataset.deviation == Approx(std::sqrt(5)));  // mean of 9, 1, 1, 9
  const std::uint32_t place = 1;
  float out[2];
  dataset.copy(dataset.training, &place, 1, out);
  CHECK(out[0] == Approx(1 / std::sqrt(5)));
  CHECK(out[1] == Approx(3 / std::sqrt(5)));

  folder.write("t10k-labels-idx1-ubyte", idx_of({2}, "ab"));
  CHECK_THROWS_WITH(read_idx_dataset("x", folder.path, inputs),
                    Contains("has 2 labels for 1 images"));
}
