// `gradcast report`: results as one page of pictures and tables.
#include "sim/answers/answer.hpp"
#include "sim/answers/version.hpp"
#include "sim/base/table.hpp"
#include "sim/base/text.hpp"
#include "sim/report/figure_json.hpp"
#include "sim/report/figures.hpp"
#include "sim/report/headline.hpp"
#include "sim/report/html.hpp"
#include "sim/report/question.hpp"
#include "sim/report/svg.hpp"
#include "sim/report/web_assets.hpp"

namespace gradcast::commands {
namespace {

/// More files than this are a slip (`report *`), and no page that anybody reads.
constexpr std::size_t kMostResults = 1000;

Flags report_flags() {
  Flags flags(
      "report",
      "Makes one HTML page from timelines and from the JSON of other commands (decide, simulate,\n"
      "collectives, compare, fit, sweep, breakeven, train, theory --curve, tta, calibrate). It "
      "has\n"
      "pictures, the tables behind them, and where each comes from. The page needs no network, "
      "and\n"
      "can be read without JavaScript.",
      {"report sweep.json breakeven.json -o report.html", "report compare.json --figures",
       "report compare.json --figure errors-compare -o errors.svg"});
  flags.add_words("RESULT...", "files that `--format json` or `--timeline` wrote", kMostResults);
  flags.add("title", "title of the page; not given: the question that the results answer", "");
  flags.add("figure", "write this one picture as SVG: a name that --figures lists");
  flags.add_switch("figures", "list the pictures that the page would have");
  flags.answer_ends_in({".html", ".htm", ".svg", ".json", ".txt", ".md"},
                       "write there instead of standard output; .json asks for --format json");
  flags.add_switch("data", "write what the pictures show as JSON, like --format json");
  return flags;
}

void require_one_answer(const Flags& flags) {
  if (flags.format() == Format::Csv)
    throw UsageError("--format: a report is HTML, or JSON with --format json; its tables are CSV");
  std::vector<std::string> asked;
  for (const char* flag : {"figure", "figures", "data"})
    if (flags.given(flag)) asked.push_back("--" + std::string(flag));
  if (!flags.given("data") && flags.format() == Format::Json) asked.emplace_back("--format json");
  if (asked.size() > 1)
    throw UsageError(asked[0] + " and " + asked[1] + " are different answers; ask for one");
}

std::vector<ResultFile> read_results(const Flags& flags) {
  if (flags.words().empty())
    throw UsageError(
        "a result is missing: a file that `--format json` wrote; see `gradcast report --help`");
  std::vector<ResultFile> results;
  for (const std::string& word : flags.words()) results.push_back(read_result(word));
  return results;
}

std::string listed(const std::vector<Figure>& figures) {
  TextTable table{{"figure", "title"}, {}};
  for (const Figure& figure : figures) table.rows.push_back({figure.id, figure.title});
  return to_text(table);
}

const Figure& figure_named(const std::string& id, const std::vector<Figure>& figures) {
  std::vector<std::string> known;
  for (const Figure& figure : figures) {
    if (figure.id == id) return figure;
    known.push_back(figure.id);
  }
  if (known.empty()) throw UsageError("--figure: these results have no pictures");
  throw UsageError("--figure: there is no '" + id + "'" + did_you_mean(id, known) + " (there are " +
                   join(known) + ")");
}

std::string data_of(const Flags& flags, const std::vector<ResultFile>& results,
                    const std::vector<Figure>& figures, const Palette& palette) {
  std::vector<InputFile> inputs;
  for (const ResultFile& result : results) inputs.push_back({result.path, result.sha256});
  Json document = make_document({flags.command(), flags.arguments(), inputs, ""});
  document["results"] = Json::array();
  for (const Figure& figure : figures)
    document["results"].push_back(figure_json_with_table(figure, palette));
  return to_text(document);
}

}  // namespace

int report(int argc, const char* const* argv) {
  Flags flags = report_flags();
  if (!flags.parse(argc, argv)) return 0;
  require_one_answer(flags);
  const std::vector<ResultFile> results = read_results(flags);
  const std::vector<Figure> figures = figures_of(results);
  const Palette palette(figures);
  if (flags.given("figures"))
    flags.deliver(listed(figures));
  else if (flags.given("figure"))
    flags.deliver(svg_of(figure_named(flags.text("figure"), figures), palette, SvgUse::Standalone));
  else if (flags.given("data") || flags.format() == Format::Json)
    flags.deliver(data_of(flags, results, figures, palette));
  else
    flags.deliver(html_of({flags.given("title") ? flags.text("title") : question_of(results),
                           program_version(), results, headline_of(results), figures},
                          palette, report_style(), report_script()));
  for (const ResultFile& result : results)
    if (results.size() == 1 ? figures.empty() : figures_of({&result, 1}).empty())
      flags.note("there is no picture of what " + result.path + " holds");
  return 0;
}

}  // namespace gradcast::commands
