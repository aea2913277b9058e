// Tables of the OSU Micro-Benchmarks.
#include <catch2/catch.hpp>

#include "sim/base/error.hpp"
#include "sim/base/text.hpp"
#include "tests/sim/import/network_imports.hpp"

using namespace gradcast;
using Catch::Contains;

namespace {

std::string table(const std::string& title, const std::string& rows = "1024  55.48\n") {
  return "# OSU " + title + " v7.2\n# Datatype: MPI_CHAR.\n# Size       Avg Latency(us)\n" + rows;
}

constexpr SaidLayout kFourNodes{.nodes = 4, .gpus_per_node = 2};

}  // namespace

TEST_CASE("OSU's tables give collectives on the nodes that somebody says", "[network]") {
  const std::string gathers = table("MPI Allgather Latency Test", "1024 55.48 24.05\n2048 58.17\n");
  CHECK_THROWS_WITH(network_of({gathers}), Contains("--nodes N"));
  const Imported imported = network_of({gathers}, kFourNodes);
  REQUIRE(imported.cluster->curve.size() == 2);
  // Each of 8 ranks gives 1024 bytes.
  CHECK(imported.cluster->curve[0] ==
        CurvePoint{"all-gather", 4, 2, Bytes{8192}, "mpi", Seconds{55.48e-6}});

  const Imported link = network_of(
      {"# OSU MPI Latency Test v7.2\n# Size          Latency (us)\n0  1.51\n1  1.49\n2  1.60\n",
       "# OSU MPI Bandwidth Test v7.2\n# Size      Bandwidth (MB/s)\n1  3.2\n4194304  12300.5\n"});
  CHECK(link.cluster->cluster.nic.latency.count() == Approx(1.49e-6));
  CHECK(link.cluster->cluster.nic.bandwidth.value == Approx(12300.5e6));
  CHECK_THROWS_WITH(network_of({"# OSU MPI Allreduce Latency Test v7.2\nkilled\n"}),
                    Contains("has no table of OSU"));
}

TEST_CASE("a message of 0 bytes says a link's latency only where nothing larger was sent",
          "[network]") {
  const auto latency = [](const char* rows) {
    const Imported link = network_of({"# OSU MPI-CUDA Latency Test v5.9\n" + std::string(rows)});
    return link.cluster->cluster.nic.latency.count();
  };
  CHECK(latency("0  1.52\n1  3.42\n2  3.41\n") == Approx(3.41e-6));
  CHECK(latency("0  1.52\n") == Approx(1.52e-6));
}

TEST_CASE("a collective of 0 bytes alone is no measured time", "[network]") {
  CHECK_THROWS_WITH(network_of({table("MPI Allreduce Latency Test", "0  1.00\n")}, kFourNodes),
                    Contains("has no table of OSU"));
}

TEST_CASE("names of ranks before OSU's lines do not matter", "[network]") {
  for (const char* prefix :
       {"[1,0]<stdout>:", "0: ", "[0] ", "node7: ", "Nov 02 10:22:33 node0 srun[17]: ",
        "2026-11-02T10:22:33.1Z stdout F ", "(RayWorker pid=17) ", "2026-11-02 10:22:33,123 12345 ",
        "Mon Nov  2 10:22:33 2026 ", "Mon Nov  2 10:22:33 UTC 2026 "}) {
    CAPTURE(prefix);
    std::string text;
    for (const std::string& line :
         split_words(table("MPI Allreduce Latency Test", "1024  55.48\n2048  58.17\n"), '\n'))
      text += prefix + line + "\n";
    const Imported imported = network_of({text}, kFourNodes);
    REQUIRE(imported.cluster->curve.size() == 2);
    CHECK(imported.cluster->curve[1].bytes.count == 2048);
    CHECK(imported.cluster->curve[1].seconds.count() == Approx(58.17e-6));
  }
}

TEST_CASE("a row of OSU whose results were wrong is left out", "[network]") {
  const Imported imported = network_of(
      {table("MPI Allreduce Latency Test", "1024  55.48  Pass\n1048576  410.25  Fail\n")},
      kFourNodes);
  REQUIRE(imported.cluster->curve.size() == 1);
  CHECK(imported.cluster->curve[0].bytes.count == 1024);
  CHECK_THAT(join(imported.notes.dropped), Contains("the row of 1048576 bytes failed"));
  CHECK_THROWS_WITH(
      network_of({table("MPI Allreduce Latency Test", "1024  55.48  Fail\n")}, kFourNodes),
      Contains("0.log:4: ") && Contains("the row of 1024 bytes failed its validation"));
}

TEST_CASE("a title of OSU names its library, and its memory behind a dash", "[network]") {
  const auto library_of = [](const char* title) {
    return network_of({table(title)}, kFourNodes).cluster->curve.at(0).library;
  };
  CHECK(library_of("MPI Allreduce Latency Test") == "mpi");
  CHECK(library_of("MPI-CUDA Allreduce Latency Test") == "mpi");
  CHECK(library_of("NCCL-CUDA Allreduce Latency Test") == "nccl");
  CHECK(library_of("XCCL-ROCM All-to-All Personalized Exchange Latency Test") == "nccl");
}

// Each of these titles contains one that is read.
TEST_CASE("a table of OSU is read only if its whole title is known", "[network]") {
  for (const char* title :
       {"MPI Allgatherv Latency Test", "MPI Reduce_scatter_block Latency Test",
        "MPI Neighborhood Allgather Latency Test", "MPI Multi Latency Test",
        "MPI Multi-threaded Latency Test", "MPI_Put Bandwidth Test", "OpenSHMEM Put Latency Test",
        "MPI Non-blocking Allgatherv Latency Test", "MPI Persistent Allreduce Latency Test"}) {
    CAPTURE(title);
    CHECK_THROWS_AS(network_of({"srun osu\n" + table(title)}, kFourNodes), DataError);
    CHECK_THROWS_WITH(
        network_of({"srun osu\n" + table(title)}, kFourNodes),
        Contains("0.log:2: is OSU's '" + std::string(title) + "', which is not read; these are: "));
  }
  // The other table of the file counts.
  const Imported both = network_of(
      {table("MPI Allgatherv Latency Test") + table("MPI Allgather Latency Test", "2048 60\n")},
      kFourNodes);
  REQUIRE(both.cluster->curve.size() == 1);
  CHECK(both.cluster->curve[0].bytes.count == 8 * 2048);
  CHECK_THAT(join(both.notes.dropped), Contains("0.log: line 1 is OSU's 'MPI Allgatherv"));
}

TEST_CASE("both directions of osu_bibw together are no link's bandwidth", "[network]") {
  CHECK_THROWS_WITH(
      network_of({table("MPI-CUDA Bi-Directional Bandwidth Test", "4194304 24000\n")}),
      Contains("0.log:1: is OSU's 'MPI-CUDA Bi-Directional Bandwidth Test', which adds up both "
               "directions of a link: run osu_bw"));
}

TEST_CASE("the time of a non-blocking collective is what it takes without computation",
          "[network]") {
  const std::string begin =
      "# OSU MPI-CUDA Non-blocking Allreduce Latency Test v7.2\n"
      "# Overall = Coll. Init + Compute + MPI_Test + MPI_Wait\n\n# Datatype: MPI_INT.\n";
  for (const std::string& columns :
       {std::string("# Size           Overall(us)       Compute(us)    Pure Comm.(us)        "
                    "Overlap(%)\n1024 200.5 101.2 99.5 0.4\n"),
        std::string("# Size           Overall(us)       Compute(us)    Coll. Init(us)      "
                    "MPI_Test(us)      MPI_Wait(us)    Pure Comm.(us)        Overlap(%)\n"
                    "1024 200.5 101.2 1.1 2.2 3.3 99.5 0.4\n")}) {
    const Imported imported = network_of({begin + columns}, kFourNodes);
    REQUIRE(imported.cluster->curve.size() == 1);
    CHECK(imported.cluster->curve[0].collective == "all-reduce");
    CHECK(imported.cluster->curve[0].bytes.count == 1024);
    CHECK(imported.cluster->curve[0].seconds.count() == Approx(99.5e-6));
  }
  CHECK_THROWS_WITH(network_of({begin + "# Size    Overall(us)\n1024  200.5\n"}, kFourNodes),
                    Contains("0.log:1: ") && Contains("has no column 'Pure Comm.(us)'"));
}
