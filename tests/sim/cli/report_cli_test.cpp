// `gradcast report`, as a user runs it.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "sim/answers/document.hpp"
#include "sim/base/gzip.hpp"
#include "tests/run_program.hpp"
#include "tests/sim/report/well_formed.hpp"
#include "tests/temporary_folder.hpp"

using Catch::Contains;
using Json = nlohmann::ordered_json;
using gradcast::Gzip;
using gradcast::gzip_built;

namespace {

std::string answer(std::vector<std::string> arguments) {
  arguments.insert(arguments.end(), {"--engine", "analytic", "--format", "json", "-q"});
  const Ran ran = gradcast_with(arguments);
  REQUIRE(ran.exit_code == 0);
  return ran.out;
}

std::string document(const std::string& schema, const std::string& rows) {
  return R"({"schema": )" + schema + R"(, "results": )" + rows + "}";
}

}  // namespace

TEST_CASE("results of simulate and compare become one page, the same each time", "[cli]") {
  TemporaryFolder folder;
  const std::string simulate =
      folder.write("s.json", answer({"simulate", "--model", "resnet-50", "--compressor", "topk"}));
  const std::string compare = folder.write("c.json", answer({"compare"}));
  const std::string page = (folder.path / "r.html").string();
  const Ran ran =
      gradcast_with({"report", simulate, compare, "-o", page, "--title", "Ours & <theirs>"});
  CHECK(ran.exit_code == 0);
  CHECK(ran.out.empty());
  CHECK(ran.err.empty());
  const Ran straight = gradcast_with({"report", simulate, compare, "--title", "Ours & <theirs>"});
  std::ifstream file(page, std::ios::binary);
  const std::string written{std::istreambuf_iterator<char>(file), {}};
  CHECK(written == straight.out);
  CHECK_THAT(written, Catch::StartsWith("<!DOCTYPE html>") &&
                          Contains("<h1>Ours &amp; &lt;theirs&gt;</h1>") &&
                          Contains("Held against 16 measured runs") &&
                          Contains("gradcast simulate --preset paper --model resnet-50"));
  CHECK_THAT(written, !Contains(folder.path.string()));  // the output path stays private
}

TEST_CASE("one picture alone is an SVG, and a wrong name is told what there is", "[cli]") {
  TemporaryFolder folder;
  const std::string compare = folder.write("c.json", answer({"compare"}));
  CHECK_THAT(gradcast_with({"report", compare, "--figures"}).out,
             Contains("errors-compare") && Contains("explained-compare"));
  const Ran ran = gradcast_with({"report", compare, "--figure", "errors-compare"});
  CHECK(ran.exit_code == 0);
  CHECK(xml_fault(ran.out) == "");
  CHECK_THAT(ran.out, Catch::StartsWith("<svg xmlns=") && Contains("n = 16"));
  refuses({"report", compare, "--figure", "error-compare"}, 2, "did you mean 'errors-compare'?");
  refuses({"report", compare, "--figure", "x", "--data"}, 2, "are different answers");
}

TEST_CASE("the figures' data are JSON, by --data, by --format and by the file's name", "[cli]") {
  TemporaryFolder folder;
  const std::string compare = folder.write("c.json", answer({"compare"}));
  const Ran data = gradcast_with({"report", compare, "--data"});
  const Json parsed = Json::parse(data.out);
  CHECK(parsed["schema"]["name"] == "gradcast/report");
  CHECK(parsed["inputs"].size() == 1);
  CHECK(parsed["results"][0]["id"] == "errors-compare");
  CHECK(parsed["results"][0]["table"]["rows"].size() == 16);
  CHECK(gradcast_with({"report", compare, "--format", "json"}).exit_code == 0);
  refuses({"report", compare, "--format", "csv"}, 2, "a report is HTML, or JSON");
}

TEST_CASE("what is no result of ours is answered with 3 and its name", "[cli]") {
  TemporaryFolder folder;
  const auto says = [&](const std::string& content, const std::string& what) {
    const std::string file = folder.write("x.json", content);
    refuses({"report", file}, 3, what);
    CHECK_THAT(gradcast_with({"report", file}).err, Contains("x.json"));
  };
  says("compressor,seconds\ntopk,1\n", "x.json:1: is no whole JSON: byte 1 does not belong");
  says("compressor,seconds\ntopk,1\n",
       "; report reads JSON, and this is CSV or other text: run what wrote it with -o x.json");
  CHECK_THAT(gradcast_with({"report", folder.write("y.json", "[oops]")}).err,
             Contains("byte 2 does not belong there\n"));  // it begins as JSON does
  says("", "is no whole JSON");
  says("[]", "is no result of gradcast");
  says("{}", "is no result of gradcast");
  says(R"({"schema": {"name": "other/thing", "version": 1}})", "is no result of gradcast");
  says(document(R"({"name": "gradcast/list", "version": 1})", "[]"),
       "of which there is no picture");
  says(document(R"({"name": "gradcast/simulate", "version": 2})", "[]"),
       "is gradcast/simulate of version 2, and this program reads version 1");
  // Their version 1 had physics alone under the names that have the answer now.
  for (const char* command : {"sweep", "breakeven"}) {
    const std::string name = "gradcast/" + std::string(command);
    says(document(R"({"name": ")" + name + R"(", "version": 1})", R"([{"iteration_seconds": 1}])"),
         "is " + name +
             " of version 1, and this program reads version 2: run the same command again");
  }
  says(document(R"({"name": "gradcast/sweep"})", "[]"), "of version unknown");
  says(document(R"({"name": "gradcast/sweep", "version": 2})", "{}"), "has no list of results");
  says(document(R"({"name": "gradcast/sweep", "version": 2})", "[1]"), "result 1 is no object");
  says(R"({"traceEvents": []})", "holds no slices");
  says(R"({"traceEvents": {}})", "traceEvents");
  says(document(R"({"name": "gradcast/sweep", "version": 2})", R"([{"workers": 1e999}])"),
       "the number 1e999 is too large");
  refuses({"report", folder.path.string()}, 3, folder.path.filename().string());
  refuses({"report", (folder.path / "none.json").string()}, 3, "none.json");
  refuses({"report"}, 2, "a result is missing");
}

TEST_CASE("files that are made to end a program end in one line", "[cli]") {
  TemporaryFolder folder;
  const auto says = [&](const std::string& content, const std::string& what) {
    refuses({"report", folder.write("x.json", content)}, 3, what);
  };
  const std::string deep = std::string(50'000, '[') + std::string(50'000, ']');
  says(document(R"({"name": "gradcast/sweep", "version": )" + deep + "}", "[]"), "deeper than 100");
  says(document(R"({"name": "gradcast/sweep", "version": 2})", R"([{"a": )" + deep + "}]"),
       "deeper than 100");
  says(R"({"traceEvents": [{"ph": "X", "ts": 8999999999999999, "dur": 8999999999999999}]})",
       "event 1: \"ts\" of '' is 8999999999999999, not microseconds");
  if (!gzip_built()) return;
  Gzip bomb;  // 60 MB
  bomb.add(R"({"traceEvents": [)");
  for (int i = 0; i < 60; ++i) bomb.add(std::string(1'000'000, ' '));
  refuses({"report", folder.write("x.json.gz", bomb.finish())}, 3, "more than 250 times its size");
}

TEST_CASE("a result that fails leaves the old page as it was", "[cli]") {
  TemporaryFolder folder;
  const std::string page = folder.write("r.html", "old");
  const std::string broken = folder.write("x.json", "{");
  CHECK(gradcast_with({"report", broken, "-o", page}).exit_code == 3);
  std::ifstream file(page);
  CHECK(std::string{std::istreambuf_iterator<char>(file), {}} == "old");
  CHECK(folder.files() == 2);
}

TEST_CASE("rows of wrong types and empty ones make a page without pictures", "[cli]") {
  TemporaryFolder folder;
  for (const char* command :
       {"simulate", "compare", "fit", "sweep", "breakeven", "tta", "calibrate"})
    for (const char* rows :
         {"[]", "[{}]",
          R"([{"model": 1, "compressor": [], "workers": "x", "iteration_seconds": {}}])",
          R"([{"model": null, "iteration_seconds": -1, "workers": 0, "measured_seconds": 0}])"}) {
      const int version = gradcast::schema_version(command);
      const std::string file =
          folder.write("x.json", document(R"({"name": "gradcast/)" + std::string(command) +
                                              R"(", "version": )" + std::to_string(version) + "}",
                                          rows));
      const Ran ran = gradcast_with({"report", file});
      CAPTURE(command, rows, ran.err);
      CHECK(ran.exit_code == 0);
      CHECK_THAT(ran.out, Contains("id=\"provenance\""));
    }
}

TEST_CASE("a timeline is drawn as lanes, a rank a panel", "[cli]") {
  TemporaryFolder folder;
  const std::string file = folder.write("t.json", R"({"traceEvents": [
    {"ph": "M", "name": "thread_name", "pid": 0, "tid": 1, "args": {"name": "compute"}},
    {"ph": "X", "name": "bwd", "pid": 0, "tid": 1, "ts": 0, "dur": 1500, "args": {"phase": "backward"}},
    {"ph": "X", "name": "all", "pid": 1, "tid": 2, "ts": 1500, "dur": 500, "args": {"phase": "collective"}}
  ]})");
  const Json data = Json::parse(gradcast_with({"report", file, "--data"}).out);
  CHECK(data["results"][0]["kind"] == "lanes");
  CHECK(data["results"][0]["panels"].size() == 2);
  CHECK(data["results"][0]["panels"][0]["series"][0]["points"][0]["until"] == 1.5);
}

TEST_CASE("a result of which there is no picture is named", "[cli][report]") {
  const TemporaryFolder folder;
  const std::string costs = folder.write(
      "costs.json",
      R"({"schema": {"name": "gradcast/calibrate", "version": 1}, "results": [{"compressor": "topk"}]})");
  const Ran ran = gradcast_runs("report", costs.c_str());
  CHECK(ran.exit_code == 0);
  CHECK_THAT(ran.err, Catch::Contains("there is no picture of what " + costs + " holds"));
}
