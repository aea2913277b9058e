// The page: safe whatever the results say, and whole without a script.
#include "sim/report/html.hpp"

#include <catch2/catch.hpp>

#include "sim/report/escape.hpp"
#include "sim/report/figure_json.hpp"
#include "sim/report/figures.hpp"

using namespace gradcast;
using Catch::Contains;

namespace {

const std::string kHostile =
    "</script><img src=\"http://evil.example/x\" onerror='alert(1)'>]]>&\x02" +
    std::string(10'000, 'x');

ResultFile simulated(const std::string& name) {
  ResultFile result{name,
                    "",
                    "simulate",
                    {{"schema", {{"name", "gradcast/simulate"}, {"version", 1}}},
                     {"tool", {{"name", "gradcast"}, {"version", name}}},
                     {"argv", {"gradcast", "simulate", "--model", name}},
                     {"inputs", {{{"path", name}, {"sha256", "abc123"}}}},
                     {"seed", 7},
                     {"engine", name}}};
  result.rows = {{{"model", name},
                  {"compressor", name},
                  {"iteration_seconds", 0.5},
                  {"forward_seconds", 0.2},
                  {"backward_seconds", 0.3},
                  {"scaling_efficiency", 0.8}}};
  return result;
}

std::string page(const std::vector<ResultFile>& results, const std::string& script = "",
                 const std::string& title = "A report") {
  const std::vector<Figure> figures = figures_of(results);
  return html_of({title, "1.2.3", results, headline_of(results), figures}, Palette(figures),
                 "p { margin: 0 }", script);
}

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t times = 0;
  for (std::size_t i = text.find(what); i != std::string::npos; i = text.find(what, i + 1)) ++times;
  return times;
}

}  // namespace

TEST_CASE("a page says what it may load: nothing", "[report]") {
  const std::string html = page({simulated("resnet-50")}, "run()");
  CHECK_THAT(html, Contains("content=\"default-src 'none'; script-src 'unsafe-inline'; style-src "
                            "'unsafe-inline'; img-src data:\""));
  CHECK(count(html, "http") ==
        count(html, "xmlns=\"http://www.w3.org/2000/svg\"") + count(html, "http-equiv"));
  CHECK(count(html, "src=") == 0);
  CHECK(count(html, "<link") + count(html, "@import") + count(html, "url(") ==
        count(html, "url(#"));
}

// A person pastes it: a name with a quote must stay one word.
TEST_CASE("the command line of a result is one that a shell reads back", "[report]") {
  const std::string html = page({simulated("o'; touch PWN; '")});
  CHECK_THAT(html, Contains(escape_markup("gradcast simulate --model 'o'\\''; touch PWN; '\\'''")));
}

TEST_CASE("a page has a language, a viewport, its figures and its numbers", "[report]") {
  const std::string html = page({simulated("resnet-50")});
  for (const char* part :
       {"<html lang=\"en\">", "name=\"viewport\"", "<main id=\"main\">",
        "<section id=\"iteration\">", "data-figure=\"iteration\"", "<figcaption>",
        "<strong>0.5 s</strong>", "<strong>80 %</strong>", "tabindex=\"0\" role=\"region\"",
        "download=\"iteration.csv\"", "id=\"provenance\"", "abc123", "gradcast 1.2.3"})
    CHECK_THAT(html, Contains(part));
  CHECK(count(html, "<h1>") == 1);
}

namespace {

/// A sweep with two sizes and both forecasts: more than one figure.
ResultFile swept() {
  ResultFile sweep{"sweep.json", "", "sweep", Json::object()};
  for (const char* compressor : {"dense", "topk"})
    for (const int workers : {4, 8})
      sweep.rows.push_back({{"model", "alexnet"},
                            {"compressor", compressor},
                            {"workers", workers},
                            {"software", "population"},
                            {"iteration_seconds", 1},
                            {"scaling_efficiency", 0.5},
                            {"speedup_over_dense", 1},
                            {"physics_seconds", 1},
                            {"physics_scaling_efficiency", 0.5},
                            {"physics_speedup_over_dense", 1}});
  return sweep;
}

}  // namespace

TEST_CASE("the first screen is question, verdict and picture; the rest is folded", "[report]") {
  const std::string html = page({swept()});
  const std::size_t first = html.find("<div class=\"first\">");
  const std::size_t rest = html.find("<details class=\"more\"><summary><h2>");
  for (const char* part :
       {"<h1>", "class=\"headline\"", "data-figure=\"winners-fitted\"", "class=\"numbers\""}) {
    CHECK(html.find(part) > first);
    CHECK(html.find(part) < rest);
  }
  for (const char* part : {"data-figure=\"scaling-fitted\"", "id=\"points\"", "sweep.json</h3>"})
    CHECK(html.find(part) > rest);
}

TEST_CASE("the figure by physics alone is folded under the one with software", "[report]") {
  const std::string html = page({swept()});
  const std::size_t fitted = html.find("data-figure=\"scaling-fitted\"");
  const std::size_t physics = html.find("data-figure=\"scaling\"");
  REQUIRE(physics != std::string::npos);
  CHECK(html.substr(fitted, physics - fitted).find("</section>") == std::string::npos);
  CHECK_THAT(html, Contains("<summary><h3>Scaling efficiency over workers: physics alone</h3>"));
}

TEST_CASE("commands in sentences are code, and a single backtick stays", "[report]") {
  const Page asked{
      "Ask `gradcast` `", "1", {}, {{"Run `gradcast tta`; it's `here`, or ` there."}, {}, {}}, {}};
  const std::string html = html_of(asked, Palette({}), "", "");
  CHECK_THAT(html,
             Contains("Run <code>gradcast tta</code>; it&#39;s <code>here</code>, or ` there."));
}

TEST_CASE("a page without a headline is headed by its first figure's sentence", "[report]") {
  Figure figure{"one", FigureKind::Lines, "t", "The finding."};
  figure.panels = {{"", {{"topk", {{1, 1}, {2, 2}}}}}};
  const std::string html = html_of({"q", "1", {}, {}, {figure}}, Palette({figure}), "", "");
  CHECK_THAT(html, Contains("<p class=\"headline\">The finding.</p>"));
  CHECK(count(html, "<figcaption>") == 0);
}

TEST_CASE("without a script there is none, and no data for it; with one both are at the end",
          "[report]") {
  CHECK(count(page({simulated("resnet-50")}), "<script") == 0);
  const std::string html = page({simulated("resnet-50")}, "run()");
  CHECK(count(html, "<script") == 2);
  CHECK(html.find("id=\"gradcast-figures\"") > html.find("</main>"));
  CHECK_THAT(html, Contains("<script>\nrun()\n</script>"));
}

TEST_CASE("names that would be markup, script or an address stay text", "[report]") {
  const std::string html = page({simulated(kHostile)}, "run()", kHostile);
  CHECK(count(html, "</script>") == 2);  // our two scripts
  CHECK(count(html, "<img") == 0);
  CHECK(count(html, "\x02") == 0);
  // Headline, caption and picture have the name cut; the tables have it whole.
  const std::size_t section = html.find("<header>");
  CHECK(html.find("</header>") - section < 5000);
  CHECK_THAT(html, Contains(std::string(10'000, 'x')));
  const std::size_t data = html.find("<script type=\"application/json\" id=\"gradcast-figures\">");
  const std::size_t begin = html.find('>', data) + 1;
  const Json figures = Json::parse(html.substr(begin, html.find("</script>", begin) - begin));
  CHECK(figures.at(0).at("panels").at(0).at("title").get<std::string>().size() < 700);
}

TEST_CASE("a table's rows are all there, escaped, and so is its CSV", "[report]") {
  ResultFile sweep{"sweep.json", "", "sweep", Json::object()};
  for (int i = 0; i < 3; ++i)
    sweep.rows.push_back({{"model", "a,b \"" + std::to_string(i)},
                          {"compressor", "dense"},
                          {"workers", 4},
                          {"iteration_seconds", 1.5}});
  const std::string html = page({sweep});
  CHECK_THAT(html, Contains("(3 rows)") && Contains("<td>a,b &quot;2") &&
                       Contains("%22a,b%20%22%222%22") &&
                       Contains("The same in every row: compressor dense, workers 4, iteration "
                                "seconds 1.5."));
}

TEST_CASE("a single row is a tall table of what it has", "[report]") {
  const AllRows all = all_rows_of(simulated("resnet-50"));
  CHECK(all.table.header == std::vector<std::string>{"name", "value"});
  CHECK(all.table.rows.at(2) == std::vector<std::string>{"iteration seconds", "0.5"});
}

TEST_CASE("a figure's JSON has the keys that the script reads, and leaves out what is empty",
          "[report]") {
  Figure figure{"one",
                FigureKind::Map,
                "t",
                "s",
                {"workers", AxisScale::Category, {"4", "8"}},
                {"bandwidth", AxisScale::Category}};
  FigurePoint point;
  point.x_text = "4";
  point.y_text = "10Gbps";
  point.text = "2.00x";
  point.muted = true;
  figure.panels = {{"p", {{"topk", {point}}, {"ideal", {}, true}}}};
  CHECK(
      figure_json(figure, Palette({figure})).dump() ==
      R"({"id":"one","kind":"map","title":"t","summary":"s",)"
      R"("x":{"label":"workers","scale":"category","categories":["4","8"]},)"
      R"("y":{"label":"bandwidth","scale":"category"},"stacked":false,"guides":[],)"
      R"("colors":{"topk":"#0072b2"},"marks":{"topk":1},"patterns":{"topk":1},"panels":[{"title":"p","series":[{"name":"topk",)"
      R"("reference":false,"points":[{"x_text":"4","y_text":"10Gbps","text":"2.00x",)"
      R"("muted":true}]},{"name":"ideal","reference":true,"points":[]}]}]})");
}

// 4 models x 6 compressors x 7 sizes x 3 bandwidths = 504 points, with a script of 270 KiB.
TEST_CASE("the page of a large sweep stays below 1.5 MB", "[report]") {
  ResultFile sweep{"sweep.json", "", "sweep", Json::object()};
  const std::vector<std::string> compressors{"dense", "topk",     "randk",
                                             "dgc",   "gaussian", "trimmed"};
  for (const char* model : {"alexnet", "vgg-16", "resnet-50", "inception-v4"})
    for (const char* bandwidth : {"10Gbps", "25Gbps", "100Gbps"})
      for (int workers = 4; workers <= 256; workers *= 2)
        for (std::size_t c = 0; c < compressors.size(); ++c) {
          const double seconds = 1.2345678 / (1 + 0.1 * static_cast<double>(c)) +
                                 0.01234567 * static_cast<double>(workers);
          Json row = {{"model", model},
                      {"batch", 128},
                      {"compressor", compressors[c]},
                      {"density", c == 0 ? 1 : 0.001},
                      {"collective", c == 0 ? "ring-all-reduce" : "ring-all-gather"},
                      {"nodes", workers / 4},
                      {"workers", workers},
                      {"nic_bandwidth", bandwidth}};
          int part = 0;
          for (const char* name : {"iteration", "forward", "backward", "encode", "communication",
                                   "exposed_communication", "decode", "update", "physics",
                                   "interval_low", "interval_high"})
            row[std::string(name) + "_seconds"] = seconds / (1 + 0.37 * part++);
          for (const char* name : {"scaling_efficiency", "speedup_over_dense",
                                   "physics_scaling_efficiency", "physics_speedup_over_dense"})
            row[name] = seconds / (2 + 0.37 * part++);
          for (const char* name : {"pays", "fitted_costs", "agree"}) row[name] = "yes";
          row["key"] = "0123456789abcdef";
          sweep.rows.push_back(row);
        }
  REQUIRE(sweep.rows.size() == 504);
  const std::string html = page({sweep}, std::string(270 * 1024, 'x'));
  CAPTURE(html.size());
  CHECK(html.size() < 1'500'000);
  CHECK_THAT(html, Contains("(504 rows)"));
}
