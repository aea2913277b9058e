#include "sim/decide/answer.hpp"

#include <catch2/catch.hpp>

#include "sim/decide/next_steps.hpp"
#include "sim/engine/engine.hpp"

using namespace gradcast;
using Catch::Contains;

namespace {

DecideAsked asked_for(const std::string& model, const std::string& cluster) {
  DecideAsked asked;
  asked.request.model = model;
  asked.request.cluster = cluster;
  asked.request.costs.clear();
  asked.request.today = true;
  asked.compressors = {"topk"};
  return asked;
}

Decision decided(const DecideAsked& asked) {
  DataFiles files(GRADCAST_SOURCE_DIR);
  return decide(asked, *find_engine("analytic"), files);
}

}  // namespace

TEST_CASE("the answer begins with the question, and says what binds", "[decide]") {
  const DecideAsked asked = asked_for("vgg-16", "1gbe");
  const Decision decision = decided(asked);
  const std::string table = decide_table(decision, asked, {"gradcast simulate"});
  CHECK_THAT(table, Catch::StartsWith("vgg-16 on 1gbe (") &&
                        Contains("Assumed: PyTorch DDP on NCCL") && Contains("what binds") &&
                        Contains("exposed communication") && Contains("network x 2 (1.7776Gbps)") &&
                        Contains(", activations ") && Contains("\n  batch       at most ") &&
                        Contains("\nNext:\n  gradcast simulate\n"));
  CHECK_THAT(table, !Contains("epoch cost"));
}

// On 100 GbE a host's sockets carry 28 Gb/s, whatever the NIC. On 1 GbE the NIC is what binds.
TEST_CASE("a link that twice the bandwidth would not help is not what binds", "[decide]") {
  const auto words = [](const char* cluster) {
    DecideAsked asked = asked_for("vgg-16", cluster);
    asked.request.batch = 4;  // a short iteration
    return bound_words(decided(asked));
  };
  CHECK_THAT(words("1gbe"), Contains(" (1 NIC of 888.8Mbps a node)"));
  CHECK_THAT(words("100gbe"), Contains(" (what the host's sockets carry of 1 NIC of 94.15Gbps"));
}

TEST_CASE("rows are today's run, the options by rank, and what was refused", "[decide]") {
  DecideAsked asked = asked_for("resnet-50", "10gbe");
  asked.samples = 1e6;
  asked.price = 2;
  const Decision decision = decided(asked);
  const std::vector<Json> rows = decide_rows(decision, asked);
  REQUIRE(rows.size() == 1 + decision.ranked.size() + decision.refused.size());
  CHECK(rows[0]["option"] == "today");
  CHECK(rows[0]["verdict"].is_null());
  const double hours = rows[0]["epoch_gpu_hours"];
  CHECK(rows[0]["epoch_cost"].get<double>() == Approx(2 * hours));
  for (const Json& row : rows) {
    CAPTURE(row.dump());
    CHECK(row.size() == rows[0].size());
    if (row["refused"] != "") {
      CHECK(row["iteration_seconds"].is_null());
      continue;
    }
    if (row["option"] == "today") continue;
    CHECK(row["speedup"].get<double>() == Approx(row["samples_per_second"].get<double>() /
                                                 rows[0]["samples_per_second"].get<double>()));
    // The cost of an epoch goes by GPU time alone.
    CHECK(row["epoch_cost"].get<double>() ==
          Approx(2 * hours * row["gpu_time_ratio"].get<double>()));
  }
  CHECK_THAT(decide_table(decision, asked, {}), Contains("epoch cost"));
}

// The first option wins by its whole interval. Without known costs that is no verdict.
TEST_CASE("the answer says why a sure gain is no verdict", "[decide]") {
  DecideAsked asked = asked_for("vgg-16", "1gbe");
  const std::string sentence = "nobody measured the software never surely pays";
  Decision decision = decided(asked);
  CHECK_THAT(decide_table(decision, asked, {}), !Contains(sentence));
  REQUIRE(decision.ranked.front().interval->low > 1);
  decision.ranked.front().verdict.pays = Pays::CannotBeTold;
  CHECK_THAT(decide_table(decision, asked, {}), Contains(sentence));
}

TEST_CASE("options that are refused for one reason share a line", "[decide]") {
  Decision decision = decided(asked_for("resnet-50", "10gbe"));
  decision.refused = {{"one", Change::Nodes, {}, {}, "why"},
                      {"another", Change::Nodes, {}, {}, "else"},
                      {"two", Change::Nodes, {}, {}, "why"}};
  CHECK_THAT(decide_table(decision, {}, {}),
             Contains("Left out:\n  one, two: why\n  another: else\n"));
}

TEST_CASE("a run that exceeds its GPU's memory says so first", "[decide]") {
  DecideAsked asked = asked_for("gpt2-xl", "dgx-a100");
  asked.compressors.clear();
  asked.gpu_memory = Bytes{16'000'000'000};
  const Decision decision = decided(asked);
  CHECK_THAT(bound_words(decision),
             Catch::StartsWith("memory: the run needs 92.5 GB, and 14.4 of a GPU's 16.0"));
  CHECK_THAT(decide_table(decision, asked, {}), Contains("does not fit in memory"));
}

// 40 GB hold one sequence of 8192 tokens only if its blocks are recomputed, which costs a forward:
// slower than a run that nobody can make.
TEST_CASE("what fits where today's run does not is needed, and not advised against", "[decide]") {
  DecideAsked asked = asked_for("llama-3-8b", "aws-p4d-24xlarge");
  asked.compressors.clear();
  asked.request.sharding = parse_sharding("fsdp");
  const std::string table = decide_table(decided(asked), asked, {});
  CHECK_THAT(table, Contains("nothing surely; in memory fits only recomputation"));
  CHECK_THAT(table, !Contains("surely not recomputation"));
  CHECK_THAT(table, Contains("surely does not pay; fits in memory"));
}

// 7 GB hold batch 128 and no larger one.
TEST_CASE("where more nodes alone surely pay, the answer says so in one voice", "[decide]") {
  DecideAsked asked = asked_for("resnet-50", "25gbe");
  asked.compressors.clear();
  asked.gpu_memory = Bytes{7'000'000'000};
  CHECK_THAT(decide_table(decided(asked), asked, {}), Contains("nothing surely but more nodes"));
}

// ResNet-50 takes 6.0 GB at batch 128, and 11.6 at 256.
TEST_CASE("what does not fit where today's run does has no other verdict", "[decide]") {
  DecideAsked asked = asked_for("resnet-50", "10gbe");
  asked.compressors.clear();
  asked.gpu_memory = Bytes{10'000'000'000};
  const std::string table = decide_table(decided(asked), asked, {});
  const std::size_t line = table.find("batch x 2 (256 a GPU)");
  REQUIRE(line != table.npos);
  const std::string row = table.substr(line, table.find('\n', line) - line);
  CHECK_THAT(row, Catch::EndsWith("  does not fit in memory"));
}

// The batch that gains most is the largest that fits.
TEST_CASE("next steps repeat the run's flags, quoted, and replace those of the option",
          "[decide]") {
  Decision decision = decided(asked_for("resnet-50", "10gbe"));
  const auto only = [&](Change change) {
    Decision one = decision;
    std::erase_if(one.ranked, [&](const auto& each) { return each.option.change != change; });
    one.ranked.resize(std::min<std::size_t>(1, one.ranked.size()));
    return next_steps(one, {"gradcast", "decide", "--model", "my model.csv", "--nic-bandwidth",
                            "10Gbps", "--samples", "5", "--compressor", "all", "--batch", "128"});
  };
  const std::string run = " --model 'my model.csv'";
  CHECK(only(Change::Compressor) ==
        std::vector{"gradcast breakeven" + run + " --batch 128 --compressor topk --over " +
                    "nic-bandwidth"});
  CHECK(only(Change::Batch) ==
        std::vector{"gradcast sweep" + run + " --nic-bandwidth 10Gbps --batch 128,319"});
  CHECK(only(Change::Network) ==
        std::vector{"gradcast sweep" + run + " --batch 128 --nic-bandwidth 9.43Gbps,18.86Gbps"});
  CHECK(only(Change::Nodes).empty());
}

TEST_CASE("next steps name no run that does not fit, where another one does", "[decide]") {
  Decision decision = decided(asked_for("resnet-50", "10gbe"));
  const std::vector<std::string> asked = {"gradcast", "decide", "--model", "resnet-50"};
  std::erase_if(decision.ranked,
                [](const auto& each) { return each.option.change == Change::Nodes; });
  REQUIRE(decision.ranked.size() > 2);
  decision.ranked.resize(3);
  decision.usable = Bytes{1000};
  for (WeighedOption& each : decision.ranked) each.forecast.memory = Bytes{1001};
  CHECK(next_steps(decision, asked).size() == 2);  // today's run does not fit either
  decision.ranked[2].forecast.memory = Bytes{1000};
  CHECK(next_steps(decision, asked).size() == 1);
}
