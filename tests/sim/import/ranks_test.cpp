// The files of several ranks, brought together.
#include "sim/base/error.hpp"
#include "sim/import/kineto/collectives.hpp"
#include "tests/sim/import/toy_run.hpp"

using namespace gradcast;
using Catch::Contains;

// Rank 0 begins at 500, rank 1 at 590; both end at 620. The data moves from 590 on: 30.
TEST_CASE("with all ranks' files, moving data is told from waiting for ranks") {
  if (!kineto::event_reader_built()) return;
  ToyRun second;
  second.rank = 1;
  second.late = 90;
  const Imported toy = imported_toys({{}, second});
  REQUIRE(toy.collectives.size() == 1);
  CHECK(micro(toy.collectives[0].seconds) == Approx(120));
  REQUIRE(toy.collectives[0].transfer.has_value());
  CHECK(micro(*toy.collectives[0].transfer) == Approx(30));
  CHECK(micro(*toy.collectives[0].skew) == Approx(90));
  CHECK_FALSE(says(toy.notes.unknown, "include waiting"));
  CHECK_FALSE(toy.transfers_with_waiting);
}

// Rank 1 as above, with a clock that is 5 ms ahead or behind, or that began an age ago.
TEST_CASE("clocks that differ are aligned by the ends of collectives, and the offset is said") {
  if (!kineto::event_reader_built()) return;
  struct Case {
    const char *first, *second, *says;
  };
  for (const Case& one :
       {Case{"0", "5000000", "the clock of rank 1 is 5ms ahead of that of rank 0"},
        Case{"5000000", "0", "the clock of rank 1 is 5ms behind that of rank 0"},
        Case{"0", "1695835535000000000", "the clock of rank 1 is 1696000000s ahead"}}) {
    CAPTURE(one.says);
    ToyRun first, second;
    second.rank = 1;
    second.late = 90;
    first.head = std::string(R"("baseTimeNanoseconds":)") + one.first + ",";
    second.head = std::string(R"("baseTimeNanoseconds":)") + one.second + ",";
    const Imported toy = imported_toys({first, second});
    REQUIRE(toy.collectives.size() == 1);
    CHECK(micro(*toy.collectives[0].transfer) == Approx(30));
    CHECK(micro(*toy.collectives[0].skew) == Approx(90));
    CAPTURE(toy.notes.inferred);
    CHECK(says(toy.notes.inferred, one.says));
  }
  ToyRun second;
  second.rank = 1;
  CHECK_FALSE(says(imported_toys({{}, second}).notes.inferred, "clock"));
}

// The ends of rank 1's all-reduces are 0, 10, 20, 30 and 40 ms after rank 0's: in the middle 20 ms,
// from which they are 20, 10, 0, 10 and 20 ms away.
TEST_CASE("how far clocks are apart is the middle of all ends, with its spread") {
  std::vector<kineto::StepCollectives> first, second;
  for (int step = 0; step < 5; ++step) {
    kineto::CollectiveCall call;
    call.what.kind = kineto::CollectiveKind::AllReduce;
    call.span = {1'000'000'000LL * step, 1'000'000'000LL * step + 1000};
    first.push_back({"s" + std::to_string(step), {call}});
    call.span.end += 10'000'000LL * step;
    second.push_back({"s" + std::to_string(step), {call}});
  }
  const auto offset = kineto::clock_offset(first, second);
  REQUIRE(offset.has_value());
  CHECK(offset->ahead == 20'000'000);
  CHECK(offset->spread == 10'000'000);
  CHECK_FALSE(kineto::clock_offset(first, {}).has_value());
}

// In rank 1's file each step lasts as long, but its ranks come 100 us later in each third step.
TEST_CASE("ranks whose collectives have no ends in common are refused") {
  if (!kineto::event_reader_built()) return;
  ToyRun second;
  second.rank = 1;
  std::string text = second.text();
  // The all-reduce of step 1 ends 50 ms late, that of step 2 is as it was.
  const std::string begin = R"("tid":20,"ts":1500,"dur":120,)";
  REQUIRE(text.find(begin) != std::string::npos);
  text.replace(text.find(begin), begin.size(), R"("tid":20,"ts":51500,"dur":120,)");
  const TemporaryFolder folder;
  CHECK_THROWS_WITH(
      import_reader_named("kineto").read(
          {folder.write("a.json", ToyRun().text()), folder.write("b.json", text)}, {}),
      Contains("b.json: does not fit ") && Contains("of two runs"));
}

// The same steps of rank 0 each time: one all-reduce of 48 elements in a step; ProfilerStep#0 and
// #1 are whole.
TEST_CASE("ranks that have no step with the same collectives are refused") {
  if (!kineto::event_reader_built()) return;
  const TemporaryFolder folder;
  const std::string first = folder.write("a.json", ToyRun().text());
  ToyRun rank;
  rank.rank = 1;
  const auto refused_beside_it = [&](const std::string& text, const std::string& what) {
    CHECK_THROWS_WITH(
        import_reader_named("kineto").read({first, folder.write("b.json", text)}, {}),
        Contains("b.json: does not fit ") && Contains("a.json: " + what + "; give the ranks'"));
  };
  const auto with = [&](const std::string& old, const std::string& other) {
    std::string text = rank.text();
    for (std::size_t at = 0; (at = text.find(old, at)) != std::string::npos; at += other.size())
      text.replace(at, old.size(), other);
    return text;
  };
  refused_beside_it(with(R"("In msg nelems":48)", R"("In msg nelems":24)"),
                    "collective 1 of ProfilerStep#0 is all-reduce of 24 elements here and "
                    "all-reduce of 48 elements there");
  refused_beside_it(with(R"("Collective name":"allreduce")", R"("Collective name":"broadcast")"),
                    "collective 1 of ProfilerStep#0 is broadcast of 48 elements here and "
                    "all-reduce of 48 elements there");
  refused_beside_it(with("ProfilerStep#", "ProfilerStep#9"),
                    "the steps here are ProfilerStep#90 to ProfilerStep#91, and there "
                    "ProfilerStep#0 to ProfilerStep#1");
  rank.sends_every = 9;
  refused_beside_it(rank.text(), "the collectives of ProfilerStep#0 are 0 here and 1 there");
}

// The steps in use are #1 and #2. Rank 1 sends 24 elements in the first; the other is the same on
// both.
TEST_CASE("ranks that have one step in common are brought together by it") {
  if (!kineto::event_reader_built()) return;
  ToyRun rank;
  rank.rank = 1;
  rank.steps = 4;
  std::string text = rank.text();
  const std::string sent = R"("In msg nelems":48)";
  const std::size_t second = text.find(sent, text.find(sent) + 1);
  text.replace(second, sent.size(), R"("In msg nelems":24)");
  ToyRun other;
  other.steps = 4;
  const TemporaryFolder folder;
  const Imported toy = import_reader_named("kineto").read(
      {folder.write("a.json", other.text()), folder.write("b.json", text)}, {});
  CHECK(micro(*toy.collectives.at(0).transfer) == Approx(120));
}

TEST_CASE("the same rank twice, or ranks of two runs, are refused") {
  if (!kineto::event_reader_built()) return;
  CHECK_THROWS_WITH(imported_toys({{}, {}}), Contains("rank 0") && Contains("once"));
  ToyRun other;
  other.rank = 1;
  other.world_size = 4;
  CHECK_THROWS_WITH(imported_toys({{}, other}), Contains("a run of 4 ranks"));
}

// The figures of one of DLRM's all-reduces on eight V100 (facebookresearch/param@1e115ff): kernels
// last 20 to 602 us, and the data moves for 18.
TEST_CASE("kernels of very different lengths have one short transfer") {
  using kineto::CollectiveKind;
  struct RankCall {
    Nanoseconds start, lasting;
  };
  const RankCall of_ranks[] = {{8510, 601}, {8509, 601}, {8538, 572}, {8508, 602},
                               {9043, 70},  {9092, 20},  {8513, 602}, {8644, 468}};
  std::vector<kineto::StepCollectives> ranks;
  for (const RankCall& call : of_ranks)
    ranks.push_back({"step",
                     {{{1000 * call.start, 1000 * (call.start + call.lasting)},
                       {CollectiveKind::AllReduce, 4, 4, 8, 0},
                       true}}});
  const auto shared = kineto::shared_calls(ranks);
  REQUIRE(shared.size() == 1);
  CHECK(shared[0].shortest == 20'000);
  CHECK(shared[0].longest == 602'000);
  CHECK(shared[0].transfer == 18'000);  // 9110 - 9092
  CHECK(shared[0].skew == 584'000);     // 9092 - 8508
  ranks[3].calls.clear();
  CHECK(kineto::shared_calls(ranks).empty());
}
