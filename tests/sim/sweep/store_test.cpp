#include "sim/sweep/store.hpp"

#include <sys/stat.h>

#include <array>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "sim/base/error.hpp"
#include "sim/base/text_file.hpp"
#include "tests/temporary_folder.hpp"

using namespace gradcast;

namespace {

Evaluation of(double iteration) {
  Evaluation evaluation;
  evaluation.result.iteration = Seconds{iteration};
  evaluation.result.engine = "simgrid-exact";
  evaluation.ranks = 16;
  evaluation.batch = 128;
  evaluation.compute = Seconds{0.46};
  return evaluation;
}

}  // namespace

TEST_CASE("a forecast comes back from its line to the last bit", "[sweep]") {
  Evaluation evaluation = of(0.1 + 0.2);
  evaluation.interval = ForecastInterval{Seconds{1.0 / 3}, Seconds{2.0 / 3}};
  evaluation.collective = "ring-all-gather";
  const Evaluation back = from_line(to_line("key", evaluation));
  CHECK(back.result.iteration == evaluation.result.iteration);
  CHECK(back.interval->low == evaluation.interval->low);
  CHECK(back.collective == "ring-all-gather");
  CHECK(to_line("key", back) == to_line("key", evaluation));

  Evaluation none;
  none.problem = "a \"quoted\"\nproblem";
  CHECK(from_line(to_line("key", none)).problem == none.problem);
  CHECK_FALSE(from_line(to_line("key", none)).interval);
}

// The verdict is made from what is kept: it must come back to the last bit.
TEST_CASE("what makes a forecast uncertain comes back from its line", "[sweep]") {
  Evaluation fitted = of(1);
  fitted.doubt.deviations = ForecastDeviations{Seconds{1.0 / 3}, {Seconds{-0.1}, Seconds{0.2}}};
  Evaluation stacked = of(1);
  stacked.stacked = true;
  SoftwareSpread& spread = stacked.doubt.spread.emplace();
  spread.forecast = 1;
  spread.physics = 0.1 + 0.2;
  spread.group = "a \"group\"";
  spread.terms = {{"nic_share", 0.1, 0.7, 0.9, true, false}, {"costs of topk", 0.2, 0.3}};
  spread.terms[1].of_physics = true;
  spread.terms[0].most = 3;
  spread.least = 0.97;
  spread.other_choice = {0, 0, .5, -0.25};
  spread.kinds = {{"kind_factor at 1 on 8", 0.1}};
  spread.kind = {"topk", Seconds{2.0 / 3}, 8};
  spread.kind_variance = 0.01;
  spread.joint = std::make_shared<const JointTerms>(
      JointTerms{{"nic_share", "rank_spread"}, {{1}, {-0.5, 2.0 / 3}}});
  for (const Evaluation& evaluation : {fitted, stacked}) {
    const std::string line = to_line("key", evaluation);
    CHECK(to_line("key", from_line(line)) == line);
    const ForecastDoubt back = from_line(line).software_doubt();
    const auto speedup = [](const ForecastDoubt& doubt) {
      return *speedup_interval(Seconds{1}, doubt, Seconds{1}, doubt);
    };
    if (back.spread) CHECK(draws_of(*back.spread) == draws_of(*evaluation.doubt.spread));
    CHECK(speedup(back).low == speedup(evaluation.doubt).low);
    CHECK(speedup(back).high == speedup(evaluation.doubt).high);
  }
  // Stores of before 2026-11 have no deviation of the kernels alone.
  std::string old = to_line("key", stacked);
  const std::string kernels = R"("kernels":0.0)";
  REQUIRE(old.find("," + kernels) != std::string::npos);
  old.erase(old.find("," + kernels), kernels.size() + 1);
  CHECK(to_line("key", from_line(old)) == to_line("key", stacked));
  // Those of before 2026-12 have one number of other choices, near or not.
  std::string of_one = to_line("key", stacked);
  const std::string choices = R"("other_choice":[0.0,0.0,0.5,-0.25])";
  REQUIRE(of_one.find(choices) != std::string::npos);
  of_one.replace(of_one.find(choices), choices.size(), R"("other_choice":-0.25)");
  CHECK(from_line(of_one).doubt.spread->other_choice == std::array{-.25, -.25, -.25, -.25});
  Evaluation physics = stacked;  // by physics alone, the spread of all stacks is of no use here
  physics.stacked = false;
  CHECK_FALSE(from_line(to_line("key", physics)).doubt.spread);
}

TEST_CASE("what a process kept before it was killed is there for the next one", "[sweep]") {
  const TemporaryFolder scratch;
  const auto file = scratch.path / "a.csv.points";
  {
    Store first(file);
    first.open_part();
    first.add("one", of(1));
    first.add("two", of(2));
  }  // no finish(): it was killed
  Store second(file);
  CHECK(second.done().size() == 2);
  CHECK(second.done().at("two").result.iteration == Seconds{2});
  second.open_part();
  second.add("three", of(3));
  CHECK(Store(file).done().size() == 3);

  second.finish({{"one", of(1)}, {"three", of(3)}});
  CHECK(read_store(file).size() == 2);
  // The file alone is left.
  CHECK(std::distance(std::filesystem::directory_iterator(scratch.path),
                      std::filesystem::directory_iterator()) == 1);
}

TEST_CASE("of a line that was cut off the lines before it stay", "[sweep]") {
  const TemporaryFolder scratch;
  const auto file = scratch.path / "a.csv.points";
  const std::string whole = to_line("one", of(1));
  const std::string second = to_line("two", of(2));
  for (const std::size_t letters : {std::size_t{0}, std::size_t{1}, second.size() - 1}) {
    write_text_file(file.string() + ".host-1.part", whole + second.substr(0, letters));
    CHECK(Store(file).done().size() == 1);
  }
}

TEST_CASE("a file that is no store says so, with its line", "[sweep]") {
  const TemporaryFolder scratch;
  const auto file = scratch.path / "a.csv.points";
  write_text_file(file, to_line("one", of(1)) + "{}\n");
  CHECK_THROWS_WITH(Store(file),
                    Catch::Contains("a.csv.points:2: this is not a forecast of a sweep"));
}

TEST_CASE("what a machine that stopped left at the end of a part is not read", "[sweep]") {
  const TemporaryFolder scratch;
  const auto file = scratch.path / "a.csv.points";
  std::ofstream(scratch.path / "a.csv.points.host-1.part", std::ios::binary)
      << to_line("one", of(1)) << std::string(512, '\0');
  CHECK(Store(file).done().size() == 1);
}

TEST_CASE("a forecast that cannot be is refused in a store, and not done in a part", "[sweep]") {
  const TemporaryFolder scratch;
  const auto file = scratch.path / "a.csv.points";
  const std::string good = to_line("one", of(1));
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string line = to_line("two", of(1));
    const std::size_t at = line.find(from);
    REQUIRE(at != std::string::npos);
    return line.replace(at, from.size(), to);
  };
  for (const auto& [line, says] : std::vector<std::pair<std::string, std::string>>{
           {with("\"iteration\":1.0", "\"iteration\":-1.0"), "'iteration' is -1 s"},
           {with("\"iteration\":1.0", "\"iteration\":0"), "'iteration' is 0, though"},
           {with("\"batch\":128", "\"batch\":1e80"), "'batch' is 1e+80"},
           {with("\"batch\":128", "\"batch\":-1"), "'batch' is -1"},
           {with("\"batch\":128", "\"batch\":2147483648"), "from 0 to 2147483647"},
           {with("\"rank\":0", "\"rank\":1.5"), "'rank' is 1.5"},
           {with("\"flows\":0", "\"flows\":18446744073709551615"),
            "'flows' is 18446744073709551615"},
           {with("\"ranks\":16", "\"ranks\":[[16]]"), "'ranks' is no number"}}) {
    CAPTURE(line);
    write_text_file(file, good + line);
    CHECK_THROWS_WITH(Store(file), Catch::Contains("a.csv.points:2: this is not a forecast") &&
                                       Catch::Contains(says));
    std::filesystem::remove(file);
    const std::filesystem::path part = file.string() + ".host-1.part";
    write_text_file(part, good + line);
    CHECK(Store(file).done().size() == 1);
    std::filesystem::remove(part);
  }
}

TEST_CASE("a folder or a pipe in the place of a part is refused at once", "[sweep]") {
  const TemporaryFolder scratch;
  const auto file = scratch.path / "a.csv.points";
  const std::filesystem::path part = file.string() + ".host-1.part";
  std::filesystem::create_directory(part);
  CHECK_THROWS_WITH(Store(file), Catch::Contains("host-1.part: is a folder"));
  std::filesystem::remove(part);
  REQUIRE(mkfifo(part.c_str(), 0600) == 0);
  CHECK_THROWS_WITH(Store(file), Catch::Contains("host-1.part: is no regular file"));
  std::filesystem::rename(part, file);
  CHECK_THROWS_WITH(Store(file), Catch::Contains("a.csv.points: is no regular file"));
}
