#include "sim/import/text/astra_sim.hpp"

#include <catch2/catch.hpp>

#include "sim/base/error.hpp"
#include "sim/base/text.hpp"
#include "tests/temporary_folder.hpp"

using namespace gradcast;
using Catch::Contains;

namespace {

Imported read(const std::string& text, std::optional<Seconds> tick = Seconds{1e-9}) {
  const TemporaryFolder folder;
  return read_astra_sim(folder.write("a.txt", text), "m", tick);
}

const std::string kTwoLayers =
    "DATA\n3\n"
    "conv1\t-1\t1000\tNONE\t0\t800\tNONE\t0\t1200\tALLREDUCE\t400\t30\n"
    "pool -1 50 NONE 0 60 NONE 0 0 NONE 0 0\n"
    "fc -1 200 NONE 0 150 NONE 0 250 ALLREDUCE 4000 70\n";

}  // namespace

// conv1: 1000 ticks forward and the pool's 50, backward 800 + 1200 and the pool's 60.
TEST_CASE("a layer's ticks become times, and its all-reduce its gradient", "[astra_sim]") {
  const Imported result = read(kTwoLayers);
  CHECK(result.model->tensors.size() == 2);
  CHECK(result.model->tensors[0].elements == 100);
  CHECK(result.trace->tensors[0].forward.count() == Approx(1050e-9));
  CHECK(result.trace->tensors[0].backward.count() == Approx(2060e-9));
  CHECK(result.trace->update.count() == Approx(100e-9));
  CHECK(result.collectives[0].count == 2);
  CHECK(result.collectives[0].bytes == Bytes{4400});
  CHECK(result.buckets == std::vector<std::int64_t>{1000, 100});
  CHECK_THAT(join(result.notes.used),
             Contains("3 layers; ticks of forward 1250, input gradients 1010, weight gradients "
                      "1450, update 100, of 1ns each"));
  CHECK(read(kTwoLayers, Seconds{1e-6}).trace->tensors[0].forward.count() == Approx(1050e-6));
}

TEST_CASE("what a tick is must be told", "[astra_sim]") {
  CHECK_THROWS_WITH(read(kTwoLayers, std::nullopt), Contains("--tick 1ns"));
  CHECK_THROWS_AS(read(kTwoLayers, std::nullopt), UsageError);
}

TEST_CASE("a workload that is no data-parallel one is refused with its line", "[astra_sim]") {
  const auto refused = [](const std::string& text, const char* why) {
    CHECK_THROWS_WITH(read(text), Contains("a.txt") && Contains(why));
  };
  refused("HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 8\n1\nx\n",
          "a.txt:1: the scheme 'HYBRID_TRANSFORMER_FWD_IN_BCKWD': only DATA");
  refused("DATA\n1\na -1 1 ALLTOALL 8 1 NONE 0 1 NONE 0 0\n",
          "a.txt:3: layer 'a' has 'ALLTOALL' in its forward pass");
  refused("DATA\n1\na -1 1 NONE 0 1 NONE 0 1 REDUCESCATTER 8 0\n", "in its weight gradients");
  refused("DATA\n", "a.txt:2: should be how many layers");
  refused("DATA\n2\na -1 1 NONE 0 1 NONE 0 1 ALLREDUCE 8 0\n", "only 1 do");
  refused("DATA\n1\na -1 1 NONE 0 1 NONE 0 1 ALLREDUCE 8 0\nb", "a.txt:4: goes on after");
  refused("DATA\n1\na -1 1 NONE 0\n", "a.txt:3: 5 words; a layer has 12");
  refused("DATA\n1\na -1 -1 NONE 0 1 NONE 0 1 ALLREDUCE 8 0\n", "'-1' is no number of ticks");
  refused("DATA\n1\na -1 1 NONE 0 1 NONE 0 1 ALLREDUCE 7 0\n", "7 bytes are no gradient");
  refused("DATA\n1\na -1 1 NONE 0 1 NONE 0 1 NONE 0 0\n", "no layer that all-reduces");
}
