#include "sim/inputs/fusion.hpp"

#include <catch2/catch.hpp>

#include "sim/base/error.hpp"
#include "sim/inputs/data_files.hpp"

using namespace gradcast;

namespace {

// Forward order; 4, 8, 12 and 16 bytes.
const Model kFour{"four", {{"a", "a", 1, 0}, {"b", "b", 2, 0}, {"c", "c", 3, 0}, {"d", "d", 4, 0}}};

using Buckets = std::vector<std::vector<std::size_t>>;

Buckets tensors_of(const Model& model, const char* fusion) {
  Buckets all;
  for (const Bucket& bucket : make_buckets(model, parse_fusion(fusion)))
    all.push_back(bucket.tensors);
  return all;
}

Buckets tensors(const char* fusion) { return tensors_of(kFour, fusion); }

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

// In units of 256 KiB: d has 3 and c 2, b 8 and a 4. 1 MiB is 4 units, 2 MiB are 8, 512 KiB are 2.
// From the input on a fills 1 MiB by itself. A cap of 2 MiB takes a and b, then c and d.
TEST_CASE("DDP closes its first bucket at 1 MiB, or all at the size that it is given", "[fusion]") {
  const std::int64_t unit = (256 << 10) / 4;  // elements
  const Model model{"four",
                    {{"a", "a", 4 * unit, 0},
                     {"b", "b", 8 * unit, 0},
                     {"c", "c", 2 * unit, 0},
                     {"d", "d", 3 * unit, 0}}};
  const auto of = [&](const char* fusion) { return tensors_of(model, fusion); };
  CHECK(of("ddp") == Buckets{{3, 2}, {1, 0}});  // 25 MiB: all that is left
  CHECK(of("ddp:1MiB") == Buckets{{3, 2}, {1}, {0}});
  CHECK(of("ddp:2MiB") == Buckets{{3, 2, 1}, {0}});
  CHECK(of("ddp:512KiB") == Buckets{{3}, {2}, {1}, {0}});
  SECTION("with find_unused_parameters they are made from the input on") {
    CHECK(of("ddp-find-unused") == Buckets{{3, 2, 1}, {0}});
    CHECK(of("ddp-find-unused:2MiB") == Buckets{{3, 2}, {1, 0}});
    CHECK(of("ddp-find-unused:512KiB") == Buckets{{3}, {2}, {1}, {0}});
  }
}

// PyTorch's DDP on two GPUs, as its trace shows the all-reduces. The first is the last layer alone:
// 4 x (2048 x 1000 + 1000) bytes, for the bias has not filled 1 MiB.
TEST_CASE("DDP sends ResNet-50 in five buckets", "[fusion]") {
  DataFiles files(GRADCAST_SOURCE_DIR);
  const Model model = load_model(files.read(kModels, "resnet-50"));
  std::vector<std::int64_t> bytes;
  for (const Bucket& bucket : make_buckets(model, parse_fusion("ddp")))
    bytes.push_back(bucket.bytes.count);
  CHECK(bytes ==
        std::vector<std::int64_t>{8'196'000, 31'502'336, 26'255'360, 26'550'272, 9'724'160});
}

TEST_CASE("DDP's buckets are given a size above zero", "[fusion]") {
  for (const char* text : {"ddp:", "ddp:0B", "ddp:50", "ddp:merged"}) {
    CAPTURE(text);
    CHECK_THROWS_WITH(parse_fusion(text),
                      "'" + std::string(text) +
                          "' does not give DDP's buckets a size; write it like 'ddp:50MiB', or "
                          "'ddp' for 25MiB");
  }
}

TEST_CASE("no element is lost or sent twice", "[fusion]") {
  for (const char* fusion : {"layer", "merged", "1B", "13B", "28B", "ddp", "ddp:13B",
                             "ddp-find-unused", "ddp-find-unused:13B"}) {
    std::int64_t sum = 0;
    for (const Bucket& bucket : make_buckets(kFour, parse_fusion(fusion))) sum += bucket.elements;
    CAPTURE(fusion);
    CHECK(sum == kFour.elements());
  }
}

TEST_CASE("a fusion is a word or a size above zero", "[fusion]") {
  for (const char* text : {"layers", "0B", "25", "", "-1MiB", "ddp25MiB", "ddp-find", "cycle"}) {
    CAPTURE(text);
    CHECK_THROWS_WITH(parse_fusion(text),
                      "'" + std::string(text) +
                          "' is not 'layer', 'merged', 'ddp', 'ddp-find-unused', 'mg-wfbp', "
                          "'omgs', a size like '25MiB' or a cycle like 'cycle:5ms,64MiB'");
  }
  for (const char* text :
       {"layer", "merged", "ddp", "ddp:25MiB", "ddp:50MiB", "ddp-find-unused",
        "ddp-find-unused:50MiB", "cycle:5ms,64MiB", "cycle:1.5us,1B", "mg-wfbp", "omgs", "25MiB"})
    CHECK(to_text(parse_fusion(text)) == text);
}

TEST_CASE("a cycle has a time and a size", "[fusion]") {
  const Fusion fusion = parse_fusion("cycle:3500us,128MiB");
  CHECK(fusion.cycle.count() == Approx(3.5e-3));
  CHECK(fusion.size == Bytes{128 << 20});
  CHECK(to_text(fusion) == "cycle:3.5ms,128MiB");
  for (const char* text :
       {"cycle:", "cycle:5ms", "cycle:64MiB", "cycle:0ms,64MiB", "cycle:5ms,0B", "cycle:5,64MiB",
        "cycle:64MiB,5ms", "cycle:0.5us,64MiB", "cycle:5ms,64MiB,1B"}) {
    CAPTURE(text);
    CHECK_THROWS_WITH(parse_fusion(text),
                      "'" + std::string(text) +
                          "' does not give a cycle its time (1us or more) and the most bytes of a "
                          "bucket; write it like 'cycle:5ms,64MiB'");
  }
}

TEST_CASE("a list of fusions leaves a cycle its comma", "[fusion]") {
  using Words = std::vector<std::string>;
  CHECK(split_fusions("layer,cycle:5ms,64MiB,cycle:1ms,64MiB,64MiB") ==
        Words{"layer", "cycle:5ms,64MiB", "cycle:1ms,64MiB", "64MiB"});
  CHECK(split_fusions("cycle:5ms") == Words{"cycle:5ms"});
  CHECK(split_fusions("ddp:1MiB,omgs") == Words{"ddp:1MiB", "omgs"});
}

TEST_CASE("buckets that depend on times are not made without them", "[fusion]") {
  for (const char* fusion : {"mg-wfbp", "omgs", "cycle:5ms,64MiB"}) {
    CAPTURE(fusion);
    CHECK_THROWS_AS(tensors(fusion), std::logic_error);
  }
}
