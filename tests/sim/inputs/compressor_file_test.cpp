// Compressors that a user's file describes, and the costs of those that nobody timed.
#include "sim/inputs/compressor_file.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <string>

#include "sim/base/error.hpp"
#include "sim/inputs/compressor_words.hpp"
#include "sim/inputs/cost_table.hpp"
#include "sim/inputs/data_files.hpp"
#include "sim/inputs/family_costs.hpp"

using namespace gradcast;
using Catch::Contains;

namespace {

const std::string kGood = "family,sparsifier,me\nbytes,8 * k + 4,me\ncollective,all-gather,me\n";

std::unique_ptr<DescribedCompressor> mine(const std::string& rows) {
  return load_compressor({"mine.csv", "property,value,source\n" + rows});
}

void refuses(const std::string& rows, const std::string& says) {
  CAPTURE(rows);
  CHECK_THROWS_WITH(mine(rows), Contains(says));
}

}  // namespace

TEST_CASE("a file describes a compressor", "[compressor_file]") {
  const auto compressor = mine(kGood + "mathematics,topk,me\nsummary,mine and fine,me\n");
  CHECK(compressor->name == "mine");
  CHECK(compressor->family == Family::Sparsifier);
  CHECK(compressor->aggregation == Aggregation::AllGather);
  CHECK((*compressor->payload)(1000, 10, 4) == 84);
  CHECK(compressor->mathematics->encode == find_compressor("topk")->encode);
  CHECK(compressor->mathematics->name == "mine");
  CHECK(sent_text(*compressor) == "8 * k + 4 bytes, gathered");
  CHECK(described(*compressor) == compressor.get());
  CHECK(described(*find_compressor("topk")) == nullptr);
}

TEST_CASE("a wrong description is refused with file and line", "[compressor_file]") {
  refuses("family,sparsifer,me\n",
          "mine.csv:2: column 'value': unknown family 'sparsifer'; did you mean "
          "'sparsifier'?");
  refuses("family,cast,me\nfamily,cast,me\n",
          "mine.csv:3: column 'property': 'family' stands twice");
  refuses("bytes,8 * kk,me\n",
          "mine.csv:2: column 'value': formula '8 * kk', character 5: unknown "
          "name 'kk'");
  refuses("bytes,elements - 10,me\n", "gives -9 bytes for 1 elements");
  refuses("bytes,1 / (ranks - 1),me\n", "no size");
  refuses("collective,ring-all-gather,me\n",
          "is not 'all-reduce' (encodings add up) or 'all-gather'");
  refuses("mathematics,topkk,me\n", "did you mean 'topk'?");
  refuses("mathematics,dense,me\n", "unknown compressor 'dense'");
  refuses("byte,8,me\n", "unknown property 'byte'; did you mean 'bytes'?");
  refuses("family,cast,me\nbytes,2 * elements,me\n", "the property 'collective' is missing");
  refuses("family,cast,me\nbytes,2 * k,me\ncollective,all-reduce,me\n",
          "mine.csv:3: k is the number of elements that a sparsifier keeps");
  refuses("family,cast\n", "mine.csv:2");
  CHECK_THROWS_WITH(load_compressor({"topk.csv", "property,value,source\n" + kGood}),
                    Contains("'topk' is a compressor with kernels: give the file another name"));
}

// Top-k's least time is not the mean of its family; with one member the mean is that member.
TEST_CASE("a compressor that nobody timed costs what its family does", "[compressor_file]") {
  const std::string header =
      "compressor,mode,implementation,tensors,elements,density,workers,distribution,selected,"
      "encode_seconds,encode_p95_seconds,decode_seconds,decode_p95_seconds,samples,evidence\n";
  const CostTable table = load_cost_table(
      {"cost-x.csv", header +
                         "topk,,a,1,1000,0.01,1,normal,10,0.004,0.004,0.001,0.001,0,derived\n" +
                         "randk,,a,1,1000,0.01,1,normal,10,0.001,0.001,0.001,0.001,0,derived\n"});
  const auto compressor = mine(kGood);
  const CostTable made = family_costs(table, *compressor);
  REQUIRE(made.rows.size() == 1);
  CHECK(made.rows[0].compressor == "mine");
  CHECK(made.rows[0].encode.count() == Approx(0.002));  // geometric mean of 4 and 1 ms
  CHECK(made.rows[0].decode.count() == Approx(0.001));
  CHECK(made.rows[0].factors.high == Approx(std::exp(1.645)));  // the least spread
  CHECK(made.rows[0].evidence == "derived");
  const auto cast = mine("family,cast,me\nbytes,2 * elements,me\ncollective,all-reduce,me\n");
  CHECK_THROWS_WITH(family_costs(table, *cast),
                    Contains("has costs neither of 'mine' nor of any of the casts"));
}
