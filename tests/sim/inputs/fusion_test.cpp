#include "sim/inputs/fusion.hpp"

#include <catch2/catch.hpp>

#include "sim/base/error.hpp"

using namespace gradcast;

namespace {

// Forward order; 4, 8, 12 and 16 bytes.
const Model kFour{"four", {{"a", "a", 1, 0}, {"b", "b", 2, 0}, {"c", "c", 3, 0}, {"d", "d", 4, 0}}};

std::vector<std::vector<std::size_t>> tensors(const char* fusion) {
  std::vector<std::vector<std::size_t>> all;
  for (const Bucket& bucket : make_buckets(kFour, parse_fusion(fusion)))
    all.push_back(bucket.tensors);
  return all;
}

using Buckets = std::vector<std::vector<std::size_t>>;

}  // namespace

TEST_CASE("buckets fill in backward order, last layer first", "[fusion]") {
  CHECK(tensors("layer") == Buckets{{3}, {2}, {1}, {0}});
  CHECK(tensors("merged") == Buckets{{3, 2, 1, 0}});
}

// d is 16 bytes, d + c is 28 and reaches 20; b + a are the 12 that are left.
TEST_CASE("the tensor that fills a bucket closes it", "[fusion]") {
  CHECK(tensors("20B") == Buckets{{3, 2}, {1, 0}});
  CHECK(tensors("16B") == Buckets{{3}, {2, 1}, {0}});
  CHECK(tensors("1GiB") == Buckets{{3, 2, 1, 0}});
}

TEST_CASE("no element is lost or sent twice", "[fusion]") {
  for (const char* fusion : {"layer", "merged", "1B", "13B", "28B"}) {
    std::int64_t sum = 0;
    for (const Bucket& bucket : make_buckets(kFour, parse_fusion(fusion))) sum += bucket.elements;
    CAPTURE(fusion);
    CHECK(sum == kFour.elements());
  }
}

TEST_CASE("a fusion is a word or a size above zero", "[fusion]") {
  for (const char* text : {"layers", "0B", "25", "", "-1MiB"}) {
    CAPTURE(text);
    CHECK_THROWS_WITH(parse_fusion(text),
                      "'" + std::string(text) +
                          "' is not 'layer', 'merged', 'mg-wfbp', 'omgs' or a size like '25MiB'");
  }
  for (const char* text : {"layer", "merged", "mg-wfbp", "omgs", "25MiB"})
    CHECK(to_text(parse_fusion(text)) == text);
}

TEST_CASE("buckets that depend on times are not made without them", "[fusion]") {
  for (const char* fusion : {"mg-wfbp", "omgs"}) {
    CAPTURE(fusion);
    CHECK_THROWS_AS(tensors(fusion), std::logic_error);
  }
}
