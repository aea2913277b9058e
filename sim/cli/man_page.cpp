#include "sim/cli/man_page.hpp"

#include <algorithm>
#include <cctype>

#include "sim/answers/version.hpp"
#include "sim/base/text.hpp"
#include "sim/cli/help_topics.hpp"

namespace gradcast {
namespace {

/// The text escaped for roff: no command at the beginning of a line, no escape, plain hyphens.
std::string plain(const std::string& text) {
  std::string result;
  bool begins = true;
  for (const char letter : text) {
    if (begins && (letter == '.' || letter == '\'')) result += "\\&";
    begins = letter == '\n';
    if (letter == '\\')
      result += "\\e";
    else if (letter == '-')
      result += "\\-";
    else if (letter == '~')
      result += "\\(ti";
    else if (letter == '^')
      result += "\\(ha";
    else if (letter == '`')
      result += "\\(ga";
    else if (letter == '\'')
      result += "\\(aq";
    else
      result += letter;
  }
  return result;
}

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::toupper(letter)); });
  return text;
}

/// No date: the same source gives the same page.
std::string heading(const std::string& name, int section, const std::string& what) {
  return ".\\\" made by `gradcast man`\n.TH " + upper(plain(name)) + " " + std::to_string(section) +
         " \"\" \"gradcast " + program_version() + "\" \"gradcast manual\"\n.SH NAME\n" +
         plain(name) + " \\- " + plain(what) + "\n";
}

std::string section(const std::string& name) { return ".SH " + upper(plain(name)) + "\n"; }

std::string as_they_are(const std::string& lines) {
  return ".PP\n.RS 4\n.nf\n" + plain(lines) + ".fi\n.RE\n";
}

/// Paragraphs, and runs of lines that begin with blanks, which stay as they are.
std::string prose(std::string_view text) {
  std::string result;
  std::string kept;
  bool new_paragraph = true;
  const auto flush = [&] {
    while (kept.ends_with("\n\n")) kept.pop_back();
    if (!kept.empty()) result += as_they_are(kept);
    kept.clear();
  };
  for (const std::string& line : split_words(text, '\n')) {
    if (line.starts_with("  ")) {
      kept += line.substr(2) + "\n";
    } else if (line.empty()) {
      if (!kept.empty()) kept += "\n";
      new_paragraph = true;
    } else {
      const bool after_lines = !kept.empty();
      flush();
      if (new_paragraph || after_lines) result += ".PP\n";
      result += plain(line) + "\n";
      new_paragraph = false;
    }
  }
  flush();
  return result;
}

std::string item(const std::string& term, const std::string& text) {
  return ".TP\n" + term + "\n" + plain(text) + "\n";
}

std::string term_of(const FlagInfo& flag) {
  std::string term = "\\fB\\-\\-" + plain(flag.name) + "\\fR";
  if (flag.letter != 0) term = std::string("\\fB\\-") + flag.letter + "\\fR, " + term;
  return flag.is_switch() ? term : term + " \\fI" + plain(flag.value) + "\\fR";
}

std::string examples_of(const std::vector<std::string>& examples) {
  std::string lines;
  for (const std::string& example : examples) lines += "gradcast " + example + "\n";
  return section("examples") + as_they_are(lines);
}

std::string title_of(const HelpTopic& topic) {
  return topic.name == "exit-codes" ? "exit status" : std::string(topic.name);
}

std::string reference(const std::string& page, int number) {
  return ".BR " + plain(page) + " (" + std::to_string(number) + ")";
}

std::string see_also(const std::vector<std::string>& references) {
  return section("see also") + join(references, ",\n") + "\n";
}

constexpr std::string_view kPurpose =
    "forecast how synchronous data-parallel SGD scales on a cluster, with and without gradient "
    "compression";

bool is_of_formats(const HelpTopic& topic) {
  return topic.name == "files" || topic.name == "units";
}

}  // namespace

std::string man_page_of_program(const std::vector<CommandInfo>& commands) {
  std::string text = heading("gradcast", 1, std::string(kPurpose));
  text += section("synopsis") +
          ".B gradcast\n\\fIcommand\\fR [\\fIflags\\fR]\n.br\n.B gradcast help\n"
          "[\\fIcommand\\fR | \\fItopic\\fR]\n";
  text += examples_of(
      {"compare  # the paper's Table 2, forecast", "simulate --model resnet-50 --compressor topk"});
  text += section("commands");
  std::vector<std::string> references;
  for (const CommandInfo& command : commands)
    text += item("\\fB" + command.name + "\\fR", command.brief);
  for (const HelpTopic& topic : all_help_topics())
    if (!is_of_formats(topic)) text += section(title_of(topic)) + prose(topic.text);
  references.reserve(commands.size() + 1);
  for (const CommandInfo& command : commands)
    references.push_back(reference("gradcast-" + command.name, 1));
  references.push_back(reference("gradcast-formats", 5));
  return text + see_also(references);
}

std::string man_page_of(const CommandInfo& command) {
  std::string text = heading("gradcast-" + command.name, 1, command.brief);
  text += section("synopsis") + ".B gradcast " + plain(command.name) + "\n[\\fIflags\\fR]";
  text += command.words.empty() ? "\n" : " [\\fI" + plain(command.words) + "\\fR]\n";
  text += section("description") + prose(command.summary);
  if (!command.words.empty())
    text += item("\\fI" + plain(command.words) + "\\fR", command.words_help);
  text += examples_of(command.examples) + section("options");
  for (const FlagInfo& flag : command.flags)
    text += item(term_of(flag),
                 flag.help + (flag.fallback.empty() ? "" : " (default: " + flag.fallback + ")"));
  text += section("exit status") + "See\n" + reference("gradcast", 1) + ".\n";
  return text + see_also({reference("gradcast", 1), reference("gradcast-formats", 5)});
}

std::string man_page_of_formats() {
  std::string text = heading("gradcast-formats", 5, "files that gradcast reads, and its units");
  for (const HelpTopic& topic : all_help_topics())
    if (is_of_formats(topic)) text += section(title_of(topic)) + prose(topic.text);
  return text + see_also({reference("gradcast", 1)});
}

}  // namespace gradcast
