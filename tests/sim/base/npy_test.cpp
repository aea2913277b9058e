#include "sim/base/npy.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "sim/base/error.hpp"
#include "tests/temporary_folder.hpp"

using namespace gradcast;
using Catch::Contains;

namespace {

/// A file of this version, as numpy.lib.format has it: the length of the header is of two bytes in
/// version 1, else of four.
std::string npy_file(int major, const std::string& header, const std::string& values) {
  std::string bytes("\x93NUMPY", 6);
  bytes += static_cast<char>(major);
  bytes += '\0';
  bytes += static_cast<char>(header.size() & 0xff);
  bytes += static_cast<char>(header.size() >> 8);
  if (major > 1) bytes += std::string(2, '\0');
  return bytes + header + values;
}

template <class Element>
std::string bytes_of(const std::vector<Element>& elements) {
  std::string bytes(elements.size() * sizeof(Element), '\0');
  std::memcpy(bytes.data(), elements.data(), bytes.size());
  return bytes;
}

std::string header_of(const std::string& type, const std::string& shape) {
  return "{'descr': '" + type + "', 'fortran_order': False, 'shape': " + shape + ", }\n";
}

std::string complaint(const std::string& bytes) {
  try {
    npy_vector(bytes, "u.npy");
  } catch (const DataError& error) {
    return error.what();
  }
  return "";
}

const std::vector<float> kThree = {1, -2.5F, 3e-20F};

}  // namespace

TEST_CASE("a vector of float32 is read from every version of the format", "[npy]") {
  for (const int version : {1, 2, 3})
    CHECK(npy_vector(npy_file(version, header_of("<f4", "(3,)"), bytes_of(kThree)), "u.npy") ==
          kThree);
}

TEST_CASE("a vector of float64 is rounded, and its NaNs and infinities stay", "[npy]") {
  const double infinity = std::numeric_limits<double>::infinity();
  const std::vector<double> values = {0.1, -infinity, std::nan("")};
  const auto read = npy_vector(npy_file(1, header_of("<f8", "(3,)"), bytes_of(values)), "u.npy");
  REQUIRE(read.size() == 3);
  CHECK(read[0] == 0.1F);
  CHECK(read[1] == -std::numeric_limits<float>::infinity());
  CHECK(std::isnan(read[2]));
}

TEST_CASE("Fortran's order is that of C where there is one dimension", "[npy]") {
  const std::string header = "{'shape': (3,), 'fortran_order': True, 'descr': '<f4'}";
  CHECK(npy_vector(npy_file(1, header, bytes_of(kThree)), "u.npy") == kThree);
}

// 6 of magic + 2 of version + 2 of length + 118 of header = 128 = 2 x 64.
TEST_CASE("a vector is written as NumPy writes it, and read back", "[npy]") {
  const std::string written = npy_of(kThree);
  CHECK(written.size() == 128 + 3 * sizeof(float));
  CHECK(written.substr(0, 10) == std::string("\x93NUMPY\1\0\x76\0", 10));
  CHECK_THAT(written, Contains("{'descr': '<f4', 'fortran_order': False, 'shape': (3,), } "));
  CHECK(written[127] == '\n');
  TemporaryFolder folder;
  CHECK(read_npy(folder.write("u.npy", written)) == kThree);
}

TEST_CASE("another type or shape is refused by its name", "[npy]") {
  const std::string values = bytes_of(kThree);
  CHECK_THAT(complaint(npy_file(1, header_of(">f4", "(3,)"), values)),
             Contains("u.npy: has elements of the type '>f4'") && Contains("'<f4' (float32)"));
  CHECK_THAT(complaint(npy_file(1, header_of("<f2", "(6,)"), values)), Contains("type '<f2'"));
  CHECK_THAT(complaint(npy_file(1, header_of("|O", "(3,)"), values)), Contains("type '|O'"));
  CHECK_THAT(complaint(npy_file(1, header_of("<f4", "(3, 1)"), values)),
             Contains("has the shape (3, 1); an array of one dimension is read"));
  CHECK_THAT(complaint(npy_file(1, header_of("<f4", "()"), values)), Contains("the shape ()"));
  CHECK_THAT(complaint(npy_file(1, header_of("<f4", "(0,)"), "")),
             Contains("the shape (0,); 1 to 268435456 elements"));
  CHECK_THAT(complaint(npy_file(1, header_of("<f4", "(99999999999999999999,)"), values)),
             Contains("1 to 268435456 elements"));
  const std::string fields =
      "{'descr': [('x', '<f4'), ('y', '<f4')], 'fortran_order': False, 'shape': (1,)}";
  CHECK_THAT(complaint(npy_file(1, fields, values)),
             Contains("type '[('x', '<f4'), ('y', '<f4')]'"));
}

TEST_CASE("a file that was cut off says where", "[npy]") {
  const std::string whole = npy_of(kThree);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    CAPTURE(size);
    CHECK_THAT(complaint(whole.substr(0, size)),
               Contains("cut off?") || Contains("ends within") || Contains("is no NumPy file"));
  }
  CHECK_THAT(complaint(whole.substr(0, 130)),
             Contains("has 2 bytes behind its header; 3 elements of 4 bytes take 12"));
  CHECK_THAT(complaint(whole + "x"), Contains("has 13 bytes behind its header"));
}

TEST_CASE("a header that NumPy would not write is refused", "[npy]") {
  const std::string values = bytes_of(kThree);
  const auto said = [&](const std::string& header) {
    return complaint(npy_file(1, header, values));
  };
  CHECK_THAT(said(""), Contains("from its end on"));
  CHECK_THAT(said("{'descr': '<f4'"), Contains("from its end on"));
  CHECK_THAT(said("{'descr': '<f4', 'shape': (3,)}"), Contains("has no 'fortran_order'"));
  CHECK_THAT(said("{'descr': '<f4', 'descr': '<f4'}"), Contains("has 'descr' in its header twice"));
  CHECK_THAT(said("{'color': 1}"), Contains("has 'color' in its header; NumPy writes descr"));
  CHECK_THAT(said("{'shape': (3,), 'fortran_order': maybe, 'descr': '<f4'}"),
             Contains("the fortran_order 'maybe'"));
  CHECK_THAT(complaint(npy_file(4, header_of("<f4", "(3,)"), values)), Contains("the format 4.0"));
  std::string longest = npy_file(2, "", "");
  longest[11] = '\x7f';
  CHECK_THAT(complaint(longest), Contains("2130706432 bytes; the most is 10000"));
}

TEST_CASE("a float64 that no float32 holds is refused", "[npy]") {
  const std::vector<double> values = {1, 1e300};
  CHECK_THAT(complaint(npy_file(1, header_of("<f8", "(2,)"), bytes_of(values))),
             Contains("has 1e+300 as element 1 (from 0), which no float32 holds"));
}

TEST_CASE("a folder, or a file that is not there, is no vector", "[npy]") {
  TemporaryFolder folder;
  CHECK_THROWS_WITH(read_npy(folder.path / "none.npy"), Contains("cannot read this file"));
  CHECK_THROWS_WITH(read_npy(folder.path), Contains("cannot read this file"));
}
