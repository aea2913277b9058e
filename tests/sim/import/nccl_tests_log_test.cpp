// Logs of nccl-tests whose options, ranks and columns differ from the usual.
#include <catch2/catch.hpp>

#include "sim/base/error.hpp"
#include "sim/base/text.hpp"
#include "tests/sim/import/nccl_tests_logs.hpp"
#include "tests/sim/import/network_imports.hpp"

using namespace gradcast;
using Catch::Contains;

namespace {

/// 2 nodes of 4 GPUs whose ranks NCCL_TESTS_SPLIT_MASK=3 puts into four groups, or `groups` others.
std::string groups_of_two(int groups = 4) {
  std::string text;
  for (int rank = 0; rank < 8; ++rank)
    text += "#  Rank  " + std::to_string(rank) + " Group  " + std::to_string(rank % groups) +
            " Pid  17 on node" + std::to_string(rank / 4) + " device  " + std::to_string(rank % 4) +
            " [0000:07:00] NVIDIA A100-SXM4-40GB\n";
  return text;
}

NetworkKind kind_by(const std::string& lines, int gpus = 8) {
  return facts_of("all_reduce_perf\n" + kBegin + ranks(1, gpus) + lines + kHeader +
                  nccl_row(1'000'000, 100, 2. * (gpus - 1) / gpus) + "\n")
      .network_kind;
}

}  // namespace

TEST_CASE("a collective has the ranks of its group, not those of the job", "[network]") {
  // An all-reduce's bus among two ranks has 2 x 1/2 of the algorithm's bandwidth.
  const std::string log = "# Collective test starting: all_reduce_perf\n" + kBegin +
                          groups_of_two() + kHeader + nccl_row(1'000'000, 100, 1) + "\n";
  const NetworkFacts facts = facts_of(log);
  REQUIRE(facts.points.size() == 1);
  CHECK(facts.points[0].nodes == 2);
  CHECK(facts.points[0].gpus_per_node == 1);
  CHECK(facts.nodes == 2);
  CHECK(facts.gpus_per_node == 4);
  CHECK_THAT(join(facts.notes.used), Contains("all-reduce on 2 x 1 GPUs, 1 sizes; 4 such groups of "
                                              "ranks ran at once, and shared the network"));
  // Groups 0, 1, 2 of 8 ranks: two have three, one has two.
  CHECK_THROWS_WITH(facts_of("all_reduce_perf\n" + kBegin + groups_of_two(3) + kHeader +
                             nccl_row(1'000'000, 100, 1) + "\n"),
                    Contains("because its"));
  std::string uneven =
      "#  Rank 0 Group 0 Pid 1 on a device 0 [0] GPU\n"
      "#  Rank 1 Group 0 Pid 1 on a device 1 [0] GPU\n"
      "#  Rank 2 Group 1 Pid 1 on a device 2 [0] GPU\n"
      "#  Rank 3 Group 1 Pid 1 on b device 0 [0] GPU\n";
  CHECK_THROWS_WITH(
      facts_of("all_reduce_perf\n" + kBegin + uneven + kHeader + nccl_row(1'000'000, 100, 1) +
               "\n"),
      Contains("its groups of ranks (NCCL_TESTS_SPLIT) lie on nodes in different ways"));
}

TEST_CASE("bandwidths that another number of ranks would have are left out", "[network]") {
  const std::string begin = "all_reduce_perf\n" + kBegin + ranks(2, 4) + kHeader;
  // 8 ranks have 2 x 7/8 = 1.75, two ranks 1.
  CHECK_THROWS_WITH(
      facts_of(begin + nccl_row(1'000'000, 100, 1) + "\n" + nccl_row(2'000'000, 180, 1) + "\n"),
      Contains("a table of 2 rows, because its bandwidths are not those of all-reduce among 8 "
               "ranks"));
  const NetworkFacts facts =
      facts_of(begin + nccl_row(1'000'000, 100, 1) + "\n" + nccl_row(2'000'000, 180, 1.75) + "\n" +
               nccl_row(8, 20, 1.75) + "\n");
  REQUIRE(facts.points.size() == 2);
  CHECK(facts.points[0].bytes.count == 2'000'000);
  CHECK_THAT(join(facts.notes.dropped), Contains("the row of 1000000 bytes has bandwidths that are "
                                                 "not those of all-reduce among 8 ranks"));
}

TEST_CASE("a column of time stamps is no number of a row", "[network]") {
  const std::string stamps =
      "#       size         count      type   redop    root     time   algbw   busbw  #wrong     "
      "time   algbw   busbw  #wrong           timestamp\n";
  const std::string at = "  2025-03-04 12:33:21\n";
  const NetworkFacts facts =
      facts_of(kBegin + ranks(2, 2) + stamps + nccl_row(1'000'000, 100, 1.5) + at +
               nccl_row(2'000'000, 180, 1.5) + at);
  REQUIRE(facts.points.size() == 2);
  CHECK(facts.points[0].seconds.count() == Approx(100e-6));
  CHECK(facts.notes.dropped.empty());
}

TEST_CASE("the header says where times stand, also with those of single iterations", "[network]") {
  const std::string header =
      "# size count type redop root time algbw busbw #wrong i_min i_max i_p99 i_cv% time algbw "
      "busbw #wrong i_min i_max i_p99 i_cv%\n";
  // The place of the second time is the ninth: the first has none.
  const NetworkFacts facts =
      facts_of(kBegin + ranks(2, 2) + header +
               " 1000000 250000 float sum -1 N/A N/A N/A N/A 1 2 3 4 80.0 12.50 18.75 0 1 2 3 4\n");
  REQUIRE(facts.points.size() == 1);
  CHECK(facts.points[0].seconds.count() == Approx(80e-6));
}

TEST_CASE("times of the CPU's calls are left out, and the option is named", "[network]") {
  std::string header = kHeader;
  for (std::size_t at = header.find(" time"); at != std::string::npos;
       at = header.find(" time", at + 3))
    header.replace(at, 5, " cputime");
  CHECK_THROWS_WITH(
      facts_of(kBegin + ranks(2, 2) + header + kMegabyte),
      Contains("a table of 1 rows, because its column is cputime") && Contains("run without -C 1"));
}

TEST_CASE("kubectl's time before each line does not matter", "[network]") {
  for (const char* stamp : {"2025-05-01T12:00:00.123456789Z ", "2025-05-01T12:00:00+02:00 ",
                            "2025-05-01T12:00:00.1Z [1,0]<stdout>:"}) {
    std::string text;
    for (const std::string& line : split_words(kBegin + ranks(1, 4) + kHeader + kMegabyte, '\n'))
      text += stamp + line + "\n";
    CAPTURE(stamp);
    CHECK(facts_of(text).points.size() == 1);
  }
}

TEST_CASE("without a name, a table with a root is no all-reduce", "[network]") {
  const auto log = [](const std::string& rows, const std::string& header = kHeader) {
    return kBegin + ranks(1, 2) + header + rows + "\n";
  };
  CHECK(facts_of(log(nccl_row(1'000'000, 100, 1))).points.at(0).collective == "all-reduce");
  CHECK(facts_of(log(nccl_row(1'000'000, 100, 0.5))).points.at(0).collective == "reduce-scatter");
  CHECK_THROWS_WITH(facts_of(log(nccl_row(1'000'000, 100, 1, "0"))),
                    Contains("nothing says which test it is of"));
  const std::string old = "# size count type redop time algbw busbw error time algbw busbw error\n";
  const std::string two = "1000000 250000 float sum 100.0 10.00 10.00 0 100.0 10.00 10.00 0";
  CHECK_THROWS_WITH(facts_of(log(two, old)),
                    Contains("an all-reduce and a reduce of two ranks have alike"));
  CHECK(facts_of("all_reduce_perf\n" + log(two, old)).points.size() == 1);
}

TEST_CASE("NICs are those of the kind that most have, whatever else stands behind it",
          "[network]") {
  const auto facts = [](const std::string& nics) {
    return facts_of("all_reduce_perf\n" + kBegin + ranks(1, 8) +
                    "n:1:1 [0] NCCL INFO NET/IB : Using " + nics +
                    " [RO]; OOB eth0:10.0.0.1<0>\nn:1:1 [0] NCCL INFO Using network IBext_v8\n" +
                    kHeader + nccl_row(1'000'000, 100, 1.75) + "\n");
  };
  const NetworkFacts sharp = facts("[0]mlx5_0:1/IB/SHARP [1]mlx5_1:1/IB/SHARP [2]mlx5_2:1/RoCE");
  CHECK(sharp.network_kind == NetworkKind::InfiniBand);
  CHECK(sharp.nics_per_node == 2);
  const NetworkFacts roce = facts("[0]mlx5_0:1/IB [1]mlx5_1:1/RoCE [2]mlx5_2:1/RoCE");
  CHECK(roce.network_kind == NetworkKind::Roce);
  CHECK(roce.nics_per_node == 2);
}

// A DGX H100 lists ten: two are for storage.
TEST_CASE("NICs beyond a multiple of the GPUs carry no collectives", "[network]") {
  std::string nics;
  for (int i = 0; i < 10; ++i)
    nics += "[" + std::to_string(i) + "]mlx5_" + std::to_string(i) + ":1/IB ";
  const Imported imported = network_of({"all_reduce_perf\n" + kBegin + ranks(1, 8) +
                                        "n:1:1 [0] NCCL INFO NET/IB : Using " + nics + "[RO]\n" +
                                        kHeader + nccl_row(1'000'000, 100, 1.75) + "\n"});
  CHECK(imported.cluster->cluster.nics_per_node == 8);
  CHECK_THAT(join(imported.notes.inferred), Contains("NICs: one a GPU; the files list 10"));
}

TEST_CASE("libfabric's provider says the network", "[network]") {
  const std::string fabric = "n:1:1 [0] NCCL INFO Using network AWS Libfabric\n";
  const std::string provider = "n:1:1 [0] NCCL INFO NET/OFI Selected Provider is ";
  CHECK(kind_by(provider + "efa (found 4 nics)\n" + fabric) == NetworkKind::Efa);
  CHECK(kind_by("n:1:1 [0] NCCL INFO NET/OFI Selected provider is efa, fabric is efa-direct (found "
                "16 nics)\nn:1:1 [0] NCCL INFO Using network Libfabric\n") == NetworkKind::Efa);
  CHECK(kind_by(provider + "cxi (found 2 nics)\n" + fabric) == NetworkKind::Slingshot);
  CHECK(kind_by(fabric) == NetworkKind::Unknown);
}

TEST_CASE("nccl-tests' own JSON is the log that the same run prints", "[network]") {
  const auto json = [](const std::string& place, const std::string& ngpus = "1",
                       const std::string& rank_of_second = "1") {
    return R"({"version":2,"start_time":"2025-03-04 12:00:00","args":["build\/all_gather_perf","-J","o"],
      "env":["NCCL_ALGO=Ring","HOME=\/root"],"nccl_version":22705,
      "config":{"nthreads":1,"ngpus":)" +
           ngpus + R"(,"devices":[
        {"rank":0,"group":0,"pid":1,"hostname":"a","device":0,"device_info":"NVIDIA H100"},
        {"rank":)" +
           rank_of_second +
           R"(,"group":0,"pid":2,"hostname":"b","device":0,"device_info":"NVIDIA H100"}]},
      "results":[{"size":1000000,"count":250000,"type":"float","redop":"none","root":"    -1",
        )" +
           place + R"(,"actual_iterations":20,"experiment_name":"AllGather"}]})";
  };
  // Half of the bandwidth with two ranks, three quarters with four.
  const std::string of_two =
      R"("out_of_place":{"time":100.5,"alg_bw":9.95,"bus_bw":4.975,"nwrong":null})";
  const Imported two = network_of({json(of_two)});
  REQUIRE(two.cluster->curve.size() == 1);
  const CurvePoint& point = two.cluster->curve[0];
  CHECK(point.collective == "all-gather");
  CHECK(point.nodes == 2);
  CHECK(point.gpus_per_node == 1);
  CHECK(point.library == "nccl-2.27.5");
  CHECK(point.seconds.count() == Approx(100.5e-6));
  CHECK(two.device == "NVIDIA H100");
  CHECK(two.cluster->cluster.nccl_settings.text == "NCCL_ALGO=Ring");
  // Each process of two GPUs is listed by its first one.
  const Imported four = network_of(
      {json(R"("out_of_place":null,"in_place":{"time":100,"alg_bw":10,"bus_bw":7.5,"nwrong":0.0})",
            "2", "2")});
  CHECK(four.cluster->curve.at(0).gpus_per_node == 2);
  CHECK_THROWS_WITH(network_of({json(R"("in_place":{"cpu_time":5,"alg_bw":200,"bus_bw":100})")}),
                    Contains("cputime"));
  CHECK_THROWS_WITH(network_of({R"({"version":2,"start_time":"","args":["all_gather_perf"]})"}),
                    Contains("has no results"));
}
