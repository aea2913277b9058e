#include "sim/report/html.hpp"

#include <algorithm>
#include <span>

#include "sim/base/clean_text.hpp"
#include "sim/base/csv.hpp"
#include "sim/base/shell_word.hpp"
#include "sim/base/text.hpp"
#include "sim/base/units.hpp"
#include "sim/report/escape.hpp"
#include "sim/report/figure_json.hpp"
#include "sim/report/svg.hpp"

namespace gradcast {
namespace {

/// Nothing is loaded from anywhere, and nothing is sent.
constexpr std::string_view kPolicy =
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:";

/// The style that only the static page needs: in a narrow window a picture keeps its size, and
/// scrolls.
constexpr std::size_t kMostAligned = 60;  // columns
constexpr std::string_view kStaticStyle =
    ".plot:not([data-drawn=interactive]){overflow-x:auto}\n"
    ".plot>svg{min-width:min(100%,44rem);margin:0 auto;color:var(--ink,currentColor)}\n"
    "@media screen and (max-width:45rem){.plot>svg{max-width:none;min-width:0}}\n"
    "footer th{white-space:nowrap}\n";

/// A text for people: nobody reads more than this of one sentence. Names are whole in the tables.
std::string read_markup(const std::string& text) {
  constexpr std::size_t kLongestSentence = 800;  // letters
  return escape_markup(shortened(clean_text(text), kLongestSentence));
}

/// The same, with what stands between backticks as code.
std::string prose_markup(const std::string& text) {
  std::string markup = read_markup(text);
  for (std::size_t from = markup.find('`'); from != std::string::npos;) {
    const std::size_t to = markup.find('`', from + 1);
    if (to == std::string::npos) break;
    const std::string words = "<code>" + markup.substr(from + 1, to - from - 1) + "</code>";
    markup.replace(from, to + 1 - from, words);
    from = markup.find('`', from + words.size());
  }
  return markup;
}

/// Cells and rows have no end tags, as HTML allows. This saves a tenth of the page.
std::string row_of(const std::vector<std::string>& fields, const char* cell) {
  std::string text = "<tr>";
  for (const std::string& field : fields)
    text += "<" + std::string(cell) + ">" + escape_markup(field);
  return text + "\n";
}

/// The columns that hold numbers and nothing else, as classes: "n2 n5", from 1.
std::string number_columns(const FigureTable& table) {
  std::vector<std::string> classes;
  for (std::size_t column = 0; column < std::min(table.header.size(), kMostAligned); ++column) {
    const bool numbers = std::all_of(table.rows.begin(), table.rows.end(), [&](const auto& row) {
      return row[column].empty() ||
             row[column].find_first_not_of("0123456789+-.e") == std::string::npos;
    });
    if (numbers) classes.push_back("n" + std::to_string(column + 1));
  }
  return join(classes, " ");
}

/// Each class sets its column to the right.
std::string number_style() {
  std::vector<std::string> selectors;
  for (std::size_t column = 1; column <= kMostAligned; ++column) {
    const std::string n = std::to_string(column);
    selectors.push_back(".n" + n + " :is(td,th):nth-child(" + n + ")");
  }
  return join(selectors, ",") + "{text-align:right}\n";
}

std::string rows_word(std::size_t rows) {
  return std::to_string(rows) + (rows == 1 ? " row" : " rows");
}

/// `kind`: a class of the table, with a blank behind it, or "".
std::string table_of(const std::string& id, const std::string& title, const FigureTable& table,
                     const std::string& kind) {
  std::string csv = csv_line(table.header);
  std::string text = "<details class=\"data\"><summary>Table: " + escape_markup(title) + " (" +
                     rows_word(table.rows.size()) +
                     ")</summary><div class=\"scroll\" tabindex=\"0\" role=\"region\" "
                     "aria-label=\"Table: " +
                     escape_markup(title) + "\"><table" + " class=\"" + kind +
                     number_columns(table) + "\">\n<thead>" +
                     row_of(table.header, "th scope=\"col\"") + "</thead>\n<tbody>\n";
  for (const std::vector<std::string>& row : table.rows) {
    text += row_of(row, "td");
    csv += csv_line(row);
  }
  return text + "</tbody></table></div><a class=\"csv\" download=\"" + id +
         ".csv\" href=\"data:text/csv;charset=utf-8," + escape_data_uri(csv) +
         "\">CSV</a></details>\n";
}

/// `captioned`: false where the page's head has said it.
std::string figure_markup(const Figure& figure, const Palette& palette, bool captioned) {
  // The table of all results has both forecasts of a point; a map is of no points.
  const bool tabled = !figure.again || figure.kind == FigureKind::Map;
  return "<figure><div class=\"plot\" data-figure=\"" + figure.id +
         "\" tabindex=\"0\" role=\"group\" aria-label=\"" + escape_markup(figure.title) + "\">" +
         svg_of(figure, palette, SvgUse::Embedded) + "</div>" +
         (captioned ? "<figcaption>" + prose_markup(figure.summary) + "</figcaption>" : "") +
         "</figure>" + (tabled ? table_of(figure.id, figure.title, figure.table, "") : "");
}

/// A part of the page that opens when its title is pressed. `heading`: "h2".
std::string folded(const std::string& title, const std::string& heading,
                   const std::string& content) {
  return "<details class=\"more\"><summary><" + heading + ">" +
         escape_markup(shortened(title, 120)) + "</" + heading + "></summary>" + content +
         "</details>\n";
}

/// A figure, and under it the same by the other forecast, folded.
std::string figure_section(std::span<const Figure> figures, const Palette& palette, bool titled,
                           bool captioned) {
  const Figure& figure = figures.front();
  std::string text = "<section id=\"" + figure.id + "\">" +
                     (titled ? "<h2>" + escape_markup(figure.title) + "</h2>" : "") +
                     figure_markup(figure, palette, captioned);
  for (const Figure& again : figures.subspan(1))
    text +=
        folded(again.title, "h3",
               "<div id=\"" + again.id + "\">" + figure_markup(again, palette, true) + "</div>");
  return text + "</section>\n";
}

std::string file_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

/// All rows of each result that has some.
std::string rows_section(const std::vector<ResultFile>& results) {
  std::string tables;
  std::size_t number = 0;
  for (const ResultFile& result : results) {
    const AllRows all = all_rows_of(result);
    if (all.table.rows.empty()) continue;
    tables += "<h3>" + escape_markup(file_name(result.path)) + "</h3>";
    if (!all.same.empty())
      tables += "<p>The same in every row: " + escape_markup(shortened(all.same, 1500)) + ".</p>";
    tables +=
        table_of("points-" + std::to_string(++number),
                 "all of " + result.command + ", " + file_name(result.path), all.table, "points ");
  }
  return tables.empty()
             ? ""
             : folded("All results", "h2", "<section id=\"points\">" + tables + "</section>");
}

std::string line_of(const std::string& name, const std::string& markup) {
  return markup.empty() ? ""
                        : "<tr><th scope=\"row\">" + name + "</th><td>" + markup + "</td></tr>\n";
}

std::string code(const std::string& text) {
  return text.empty() ? "" : "<code>" + escape_markup(text) + "</code>";
}

/// A list of texts as a command line.
std::string command_line(const Json& document) {
  const auto words = document.find("argv");
  if (words == document.end() || !words->is_array()) return "";
  std::string line;
  for (const Json& word : *words) {
    if (!word.is_string()) continue;
    line += (line.empty() ? "" : " ") + shell_word(word.get_ref<const std::string&>());
  }
  return line;
}

std::string inputs_of(const Json& document) {
  const auto inputs = document.find("inputs");
  if (inputs == document.end() || !inputs->is_array() || inputs->empty()) return "";
  std::string list;
  for (const Json& input : *inputs)
    list += escape_markup(text_of(input, "path")) + " " + code(text_of(input, "sha256")) + "<br>\n";
  return "<details class=\"data\"><summary>" + std::to_string(inputs->size()) + " files</summary>" +
         list + "</details>";
}

/// Our timelines have it among what is beside the events.
const Json& head_of(const ResultFile& result) {
  if (result.command != "timeline") return result.document;
  const auto other = result.document.find("otherData");
  return other != result.document.end() && other->is_object() ? *other : result.document;
}

std::string provenance_of(const ResultFile& result) {
  const Json& document = head_of(result);
  const auto part = [&](const char* name) {
    const auto found = document.find(name);
    return found != document.end() ? *found : Json();
  };
  std::string what = text_of(part("schema"), "name") + " " + text_of(part("schema"), "version");
  if (what == " ") what = result.command;  // somebody else's timeline
  const Json tool = part("tool");
  return "<h3>" + escape_markup(file_name(result.path)) + "</h3><table><tbody>\n" +
         line_of("what", escape_markup(what)) + line_of("sha256", code(result.sha256)) +
         line_of("written by",
                 escape_markup(text_of(tool, "name") +
                               (tool.is_object() ? " " + text_of(tool, "version") : ""))) +
         line_of("command", code(command_line(document))) +
         line_of("engine", escape_markup(text_of(document, "engine"))) +
         line_of("seed", escape_markup(text_of(document, "seed"))) +
         line_of("inputs", inputs_of(document)) + "</tbody></table>\n";
}

/// Letters of the headline that are read at once; the sentences after them are folded.
constexpr std::size_t kShownLetters = 520;

std::string sentences_markup(std::span<const std::string> sentences, const std::string& kind) {
  if (sentences.size() == 1)
    return "<p class=\"" + kind + "\">" + prose_markup(sentences[0]) + "</p>\n";
  std::string text = "<ul class=\"" + kind + "\">\n";
  for (const std::string& sentence : sentences) text += "<li>" + prose_markup(sentence) + "</li>\n";
  return text + "</ul>\n";
}

std::string header_of(const Page& page, std::vector<std::string> sentences) {
  std::string text = "<header><h1>" + read_markup(page.title) + "</h1>\n";
  std::size_t shown = 0;
  for (std::size_t letters = 0; shown < sentences.size(); ++shown) {
    letters += sentences[shown].size();
    if (shown > 0 && letters > kShownLetters) break;
  }
  if (shown > 0) text += sentences_markup(std::span(sentences).first(shown), "headline");
  sentences.insert(sentences.end(), page.headline.reasons.begin(), page.headline.reasons.end());
  if (const auto rest = std::span(sentences).subspan(shown); !rest.empty())
    text += "<details class=\"data\"><summary>Why, and how sure: " + std::to_string(rest.size()) +
            (rest.size() == 1 ? " more sentence" : " more sentences") + "</summary>" +
            sentences_markup(rest, "reasons") + "</details>\n";
  return text + "</header>\n";
}

std::string numbers_of(const Page& page) {
  if (page.headline.numbers.empty()) return "";
  std::string text = "<ul class=\"numbers\">\n";
  for (const HeadlineNumber& number : page.headline.numbers)
    text += "<li><strong>" + read_markup(number.value) + "</strong> " + prose_markup(number.what) +
            "</li>\n";
  return text + "</ul>\n";
}

/// Figures, each with those that repeat it.
std::vector<std::span<const Figure>> grouped(const std::vector<Figure>& figures) {
  std::vector<std::span<const Figure>> groups;
  for (std::size_t i = 0; i < figures.size();) {
    std::size_t end = i + 1;
    while (end < figures.size() && figures[end].again) ++end;
    groups.emplace_back(&figures[i], end - i);
    i = end;
  }
  return groups;
}

/// The first screen: question, verdict and picture.
std::string first_screen(const Page& page, std::span<const Figure> lead, const Palette& palette) {
  // Some results have no sentence but their picture's.
  const bool unsaid = page.headline.sentences.empty() && !lead.empty();
  const std::vector<std::string> sentences =
      unsaid ? std::vector{lead.front().summary} : page.headline.sentences;
  return "<div class=\"first\">" + header_of(page, sentences) +
         (lead.empty() ? "" : figure_section(lead, palette, true, !unsaid)) + numbers_of(page) +
         "</div>\n";
}

}  // namespace

std::string html_of(const Page& page, const Palette& palette, std::string_view style,
                    std::string_view script) {
  std::string text =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"" +
      std::string(kPolicy) +
      "\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>" +
      escape_markup(page.title) + "</title>\n<style>\n" + std::string(style) +
      std::string(kStaticStyle) + number_style() +
      "</style>\n</head>\n<body>\n<main id=\"main\">\n";
  const std::vector<std::span<const Figure>> groups = grouped(page.figures);
  text += first_screen(page, groups.empty() ? std::span<const Figure>() : groups.front(), palette);
  for (std::size_t i = 1; i < groups.size(); ++i)
    text += folded(groups[i].front().title, "h2", figure_section(groups[i], palette, false, true));
  text += rows_section(page.results) + "</main>\n<footer id=\"provenance\">\n";
  std::string sources;
  for (const ResultFile& result : page.results) sources += provenance_of(result);
  text += folded("Where this comes from", "h2", sources) + "<p>Drawn by gradcast " +
          escape_markup(page.version) + ".</p></footer>\n";
  if (!script.empty()) {
    Json figures = Json::array();
    for (const Figure& figure : page.figures) figures.push_back(figure_json(figure, palette));
    text += "<script type=\"application/json\" id=\"gradcast-figures\">" +
            escape_script_json(figures.dump(-1, ' ', false, Json::error_handler_t::replace)) +
            "</script>\n<script>\n" + std::string(script) + "\n</script>\n";
  }
  return text + "</body>\n</html>\n";
}

namespace {

/// Computed values have five digits, because people read the table. The result file has all digits.
std::string shown(const Json& row, const std::string& name) {
  const auto field = row.find(name);
  if (field != row.end() && field->is_number_float())
    return number_to_text(rounded_to(5, field->get<double>()));
  return text_of(row, name);
}

std::string with_blanks(std::string name) {
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

}  // namespace

AllRows all_rows_of(const ResultFile& result) {
  AllRows all;
  if (result.rows.empty()) return all;
  if (result.rows.size() == 1) {  // a single row becomes a tall table, not a wide one
    all.table.header = {"name", "value"};
    for (const auto& [name, value] : result.rows.front().items())
      if (const std::string text = shown(result.rows.front(), name); !text.empty())
        all.table.rows.push_back({with_blanks(name), text});
    return all;
  }
  std::vector<std::string> names;
  std::vector<std::string> same;
  for (const auto& [name, value] : result.rows.front().items()) {
    const std::string& key = name;
    if (key == "key") continue;  // this column is for the program, which resumes a sweep by it
    if (key.ends_with("pays") && result.rows.front().contains("verdict"))
      continue;  // says the same
    const std::string first = shown(result.rows.front(), key);
    const bool alike = std::all_of(result.rows.begin(), result.rows.end(),
                                   [&](const Json& row) { return shown(row, key) == first; });
    // Rows assume different things where a column beside differs, and a sentence is long.
    if (!alike && key == "assumed") continue;
    if (!alike) {
      names.push_back(key);
      all.table.header.push_back(with_blanks(key));
    } else if (!first.empty()) {
      same.push_back(with_blanks(key) + " " + first);
    }
  }
  all.same = join(same);
  for (const Json& row : result.rows) {
    std::vector<std::string>& fields = all.table.rows.emplace_back();
    for (const std::string& name : names) fields.push_back(shown(row, name));
  }
  return all;
}

}  // namespace gradcast
