#include "sim/flags.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include "sim/text.hpp"
#include "sim/text_file.hpp"
#include "sim/units.hpp"

namespace gradcast {
namespace {

/// The name under which cxxopts keeps words that belong to no flag.
const std::string kWords = "words";

/// What changes how an answer is come by, or where it goes, and not the answer.
constexpr std::array<std::string_view, 6> kBesideTheAnswer = {"jobs",  "shard",    "output",
                                                              "quiet", "timeline", "paje"};

std::string description(const std::string& summary, const std::vector<std::string>& examples) {
  std::string text = summary + "\n\nExamples:\n";
  for (const std::string& example : examples) text += "  gradcast " + example + "\n";
  return text;
}

}  // namespace

Flags::Flags(std::string command, const std::string& summary,
             const std::vector<std::string>& examples, const std::string& output)
    : command_(std::move(command)),
      output_is_answer_(output.empty()),
      options_("gradcast " + command_, description(summary, examples)) {
  options_.custom_help("[flags]");
  options_.set_width(100);
  options_.allow_unrecognised_options();  // refused below, with a suggestion
  options_.add_options()("f,format", "table, csv or json",
                         cxxopts::value<std::string>()->default_value("table"), "FORMAT")(
      "o,output",
      output_is_answer_ ? "write there instead of standard output; .csv or .json sets the format"
                        : output,
      cxxopts::value<std::string>(),
      "FILE")("q,quiet", "no notes on standard error")("h,help", "this text");
}

void Flags::add(const std::string& name, const std::string& help, const std::string& fallback) {
  auto value = cxxopts::value<std::string>();
  if (!fallback.empty()) value->default_value(fallback);
  options_.add_options()(name, help, value, "VALUE");
  own_names_.push_back(name.substr(name.find(',') + 1));
}

void Flags::add_switch(const std::string& name, const std::string& help) {
  options_.add_options()(name, help);
  switches_.insert(name);
}

void Flags::add_words(const std::string& what, const std::string& help, std::size_t most) {
  most_words_ = most;
  options_.add_options()(kWords, help, cxxopts::value<std::vector<std::string>>(), what);
  options_.parse_positional(kWords);
  options_.positional_help(what);
  options_.custom_help("[flags]");
}

bool Flags::parse(int argc, const char* const* argv) {
  try {
    parsed_ = options_.parse(argc, argv);
  } catch (const cxxopts::exceptions::exception& error) {
    // Of "--sweep=yes" cxxopts tells the value, not the flag.
    for (const std::string& argument : std::vector<std::string>(argv, argv + argc))
      if (const std::size_t equals = argument.find('=');
          argument.starts_with("--") && equals != std::string::npos &&
          switches_.contains(argument.substr(2, equals - 2)))
        throw UsageError(argument.substr(0, equals) + " takes no value");
    throw UsageError(std::string(error.what()) + "; see `gradcast " + command_ + " --help`");
  }
  if (parsed_->count("help") > 0) {
    write_stdout(options_.help());
    return false;
  }
  require_known(parsed_->unmatched());
  if (const auto given_words = words(); given_words.size() > most_words_)
    throw UsageError("'" + given_words.back() + "' is one word too many; see `gradcast " + command_ +
                     " --help`");
  for (const cxxopts::KeyValue& flag : parsed_->arguments()) {
    if (flag.key() == kWords) continue;
    if (flag.value().empty()) throw UsageError("--" + flag.key() + ": the value is empty");
    if (switches_.contains(flag.key()) && flag.value() != "true")
      throw UsageError("--" + flag.key() + " takes no value");
    if (parsed_->count(flag.key()) > 1 && !switches_.contains(flag.key()))
      throw UsageError("--" + flag.key() + " is given twice");
  }
  static_cast<void>(format());
  arguments_ = {"gradcast", command_};
  for (const cxxopts::KeyValue& flag : parsed_->arguments()) {
    if (flag.key() == kWords ||
        std::find(kBesideTheAnswer.begin(), kBesideTheAnswer.end(), flag.key()) !=
            kBesideTheAnswer.end())
      continue;
    arguments_.push_back("--" + flag.key());
    if (!switches_.contains(flag.key())) arguments_.push_back(flag.value());
  }
  for (const std::string& word : words()) arguments_.push_back(word);
  return true;
}

void Flags::require_known(const std::vector<std::string>& unmatched) const {
  if (unmatched.empty()) return;
  const std::string typed = unmatched[0].substr(0, unmatched[0].find('='));
  if (!typed.starts_with("-"))
    throw UsageError("'" + typed + "' does not belong here: `gradcast " + command_ +
                     "` takes flags only");
  std::vector<std::string> known;
  for (const std::string& group : options_.groups())
    for (const auto& option : options_.group_help(group).options)
      for (const std::string& name : option.l) known.push_back("--" + name);
  const std::string suggestion = did_you_mean(typed, known);
  throw UsageError("unknown flag '" + typed + "'" +
                   (suggestion.empty() ? "; see `gradcast " + command_ + " --help`" : suggestion));
}

std::vector<std::string> Flags::words() const {
  if (most_words_ == 0 || parsed_->count(kWords) == 0) return {};
  return (*parsed_)[kWords].as<std::vector<std::string>>();
}

bool Flags::given(const std::string& name) const { return parsed_->count(name) > 0; }

std::string Flags::text(const std::string& name) const {
  // A flag without a fallback that is not given has no value, and cxxopts would throw.
  return given(name) || (*parsed_)[name].has_default() ? (*parsed_)[name].as<std::string>() : "";
}

std::string Flags::answer_file() const {
  const std::string file = output_is_answer_ ? text("output") : "";
  return file == "-" ? "" : file;
}

Format Flags::format() const {
  std::string name = text("format");
  const std::string file = answer_file();
  if (!given("format") && file.ends_with(".csv")) name = "csv";
  if (!given("format") && file.ends_with(".json")) name = "json";
  if (name == "table") return Format::Table;
  if (name == "csv") return Format::Csv;
  if (name == "json") return Format::Json;
  throw UsageError("--format: '" + name + "' is not table, csv or json");
}

void Flags::deliver(std::string_view content) const {
  if (const std::string file = answer_file(); !file.empty())
    write_text_file(file, content);
  else
    write_stdout(content);
}

void Flags::note(const std::string& line) const {
  if (!quiet()) std::fprintf(stderr, "gradcast: %s\n", line.c_str());
}

}  // namespace gradcast
