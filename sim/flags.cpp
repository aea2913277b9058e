#include "sim/flags.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include "sim/color.hpp"
#include "sim/text.hpp"
#include "sim/text_file.hpp"
#include "sim/units.hpp"

namespace gradcast {
namespace {

/// The name under which cxxopts keeps words that belong to no flag.
const std::string kWords = "words";

/// What changes how an answer is come by, or where it goes, and not the answer.
constexpr std::array<std::string_view, 8> kBesideTheAnswer = {
    "jobs", "shard", "output", "quiet", "color", "config", "timeline", "paje"};

bool is_beside_the_answer(const std::string& name) {
  return std::find(kBesideTheAnswer.begin(), kBesideTheAnswer.end(), name) !=
         kBesideTheAnswer.end();
}

std::string description(const std::string& summary, const std::vector<std::string>& examples) {
  std::string text = summary + "\n\nExamples:\n";
  for (const std::string& example : examples) text += "  gradcast " + example + "\n";
  return text;
}

/// What every command has.
constexpr std::array<std::string_view, 6> kCommon = {"format", "output", "quiet",
                                                     "color",  "config", "help"};

bool is_common(const std::string& name) {
  return std::find(kCommon.begin(), kCommon.end(), name) != kCommon.end();
}

/// "j,jobs" as its letter and its name.
FlagInfo named(const std::string& name) {
  FlagInfo info;
  info.name = name;
  if (name.size() > 2 && name[1] == ',') {
    info.letter = name[0];
    info.name = name.substr(2);
  }
  return info;
}

}  // namespace

Flags::Flags(std::string command, const std::string& summary,
             const std::vector<std::string>& examples, const std::string& output)
    : output_is_answer_(output.empty()) {
  info_.name = std::move(command);
  info_.summary = summary;
  info_.examples = examples;
  info_.flags = {
      {"format", 'f', "FORMAT", "table, csv or json", "table"},
      {"output", 'o', "FILE",
       output_is_answer_ ? "write there instead of standard output; .csv or .json sets the format"
                         : output,
       ""},
      {"quiet", 'q', "", "no notes on standard error", ""},
      {"color", 0, "WHEN", "auto, always or never", "auto"},
      {"config", 'c', "FILE", "values for flags that are not given, in TOML; or none", ""},
      {"help", 'h', "", "this text", ""}};
}

void Flags::add(const std::string& name, const std::string& help, const std::string& fallback) {
  FlagInfo flag = named(name);
  flag.value = "VALUE";
  flag.help = help;
  flag.fallback = fallback;
  info_.flags.push_back(std::move(flag));
}

void Flags::add_switch(const std::string& name, const std::string& help) {
  FlagInfo flag = named(name);
  flag.help = help;
  info_.flags.push_back(std::move(flag));
}

void Flags::add_words(const std::string& what, const std::string& help, std::size_t most) {
  info_.words = what;
  info_.words_help = help;
  info_.most_words = most;
}

void Flags::without_format() {
  std::erase_if(info_.flags, [](const FlagInfo& flag) { return flag.name == "format"; });
  for (FlagInfo& flag : info_.flags)
    if (flag.name == "output") flag.help = "write there instead of standard output";
}

void Flags::without_config() {
  std::erase_if(info_.flags, [](const FlagInfo& flag) { return flag.name == "config"; });
}

bool Flags::is_switch(const std::string& name) const {
  const FlagInfo* flag = info_.find(name);
  return flag != nullptr && flag->is_switch();
}

cxxopts::Options Flags::options() const {
  cxxopts::Options options("gradcast " + info_.name, description(info_.summary, info_.examples));
  options.custom_help("[flags]");
  options.set_width(100);
  options.allow_unrecognised_options();  // refused below, with a suggestion
  for (const FlagInfo& flag : info_.flags) {
    const std::string name =
        flag.letter == 0 ? flag.name : std::string(1, flag.letter) + "," + flag.name;
    if (flag.is_switch()) {
      options.add_options()(name, flag.help);
      continue;
    }
    auto value = cxxopts::value<std::string>();
    if (!flag.fallback.empty()) value->default_value(flag.fallback);
    options.add_options()(name, flag.help, value, flag.value);
  }
  if (info_.most_words > 0) {
    options.add_options()(kWords, info_.words_help, cxxopts::value<std::vector<std::string>>(),
                          info_.words);
    options.parse_positional(kWords);
    options.positional_help(info_.words);
  }
  return options;
}

CommandInfo Flags::info() const {
  CommandInfo info = info_;
  info.help = options().help();
  return info;
}

cxxopts::ParseResult Flags::parsed(const std::vector<std::string>& words) const {
  std::vector<const char*> pointers;
  pointers.reserve(words.size());
  for (const std::string& word : words) pointers.push_back(word.c_str());
  try {
    return options().parse(static_cast<int>(pointers.size()), pointers.data());
  } catch (const cxxopts::exceptions::exception& error) {
    // Of "--sweep=yes" cxxopts tells the value, not the flag.
    for (const std::string& word : words)
      if (const std::size_t equals = word.find('='); word.starts_with("--") &&
                                                     equals != std::string::npos &&
                                                     is_switch(word.substr(2, equals - 2)))
        throw UsageError(word.substr(0, equals) + " takes no value");
    throw UsageError(std::string(error.what()) + "; see `gradcast " + command() + " --help`");
  }
}

std::vector<std::string> Flags::keep_values() {
  std::vector<std::string> words;
  const std::string config = info_.find("config") == nullptr ? "" : text("config");
  for (const KeptValue& kept : kept_values(info_, config)) {
    if (given(kept.flag)) continue;
    kept_[kept.flag] = kept;
    if (!is_switch(kept.flag))
      words.push_back("--" + kept.flag + "=" + kept.value);
    else if (kept.value == "true")
      words.push_back("--" + kept.flag);
  }
  return words;
}

bool Flags::parse(int argc, const char* const* argv) {
  if (argc == 2 && argv[1] == kDescribe) throw info();
  std::vector<std::string> typed(argv, argv + argc);
  parsed_ = parsed(typed);
  if (given("help")) {
    write_stdout(options().help());
    return false;
  }
  require_values();
  choose_color(value("color", parse_color));
  if (const std::vector<std::string> kept = keep_values(); !kept.empty()) {
    typed.insert(typed.begin() + 1, kept.begin(), kept.end());
    parsed_ = parsed(typed);
    require_values();
    choose_color(value("color", parse_color));
  }
  static_cast<void>(format());
  arguments_ = {"gradcast", command()};
  for (const cxxopts::KeyValue& flag : parsed_->arguments()) {
    if (flag.key() == kWords || is_beside_the_answer(flag.key())) continue;
    arguments_.push_back("--" + flag.key());
    if (!is_switch(flag.key())) arguments_.push_back(flag.value());
  }
  for (const std::string& word : words()) arguments_.push_back(word);
  return true;
}

void Flags::require_values() const {
  require_known(parsed_->unmatched());
  if (const auto given_words = words(); given_words.size() > info_.most_words)
    throw UsageError("'" + given_words.back() + "' is one word too many; see `gradcast " +
                     command() + " --help`");
  for (const cxxopts::KeyValue& flag : parsed_->arguments()) {
    if (flag.key() == kWords) continue;
    if (flag.value().empty()) throw complaint(flag.key(), "the value is empty");
    if (is_switch(flag.key()) && flag.value() != "true")
      throw UsageError("--" + flag.key() + " takes no value");
    if (parsed_->count(flag.key()) > 1 && !is_switch(flag.key()))
      throw UsageError("--" + flag.key() + " is given twice");
  }
}

void Flags::require_known(const std::vector<std::string>& unmatched) const {
  if (unmatched.empty()) return;
  const std::string typed = unmatched[0].substr(0, unmatched[0].find('='));
  if (!typed.starts_with("-"))
    throw UsageError("'" + typed + "' does not belong here: `gradcast " + command() +
                     "` takes flags only");
  std::vector<std::string> known;
  for (const FlagInfo& flag : info_.flags) known.push_back("--" + flag.name);
  const std::string suggestion = did_you_mean(typed, known);
  throw UsageError("unknown flag '" + typed + "'" +
                   (suggestion.empty() ? "; see `gradcast " + command() + " --help`" : suggestion));
}

std::vector<std::string> Flags::words() const {
  if (info_.most_words == 0 || parsed_->count(kWords) == 0) return {};
  return (*parsed_)[kWords].as<std::vector<std::string>>();
}

std::vector<std::string> Flags::own_names() const {
  std::vector<std::string> names;
  for (const FlagInfo& flag : info_.flags)
    if (!is_common(flag.name)) names.push_back(flag.name);
  return names;
}

bool Flags::given(const std::string& name) const { return parsed_->count(name) > 0; }

std::string Flags::text(const std::string& name) const {
  if (given(name)) return (*parsed_)[name].as<std::string>();
  const FlagInfo* flag = info_.find(name);
  if (flag == nullptr) throw std::logic_error("`" + command() + "` has no flag --" + name);
  return flag->fallback;
}

Error Flags::complaint(const std::string& name, const std::string& what) const {
  const auto found = kept_.find(name);
  if (found == kept_.end()) return UsageError("--" + name + ": " + what);
  const KeptValue& kept = found->second;
  if (kept.path.empty()) return UsageError(kept.origin + ": " + what);
  return DataError(kept.path, kept.line, "'" + name + "': " + what);
}

std::string Flags::answer_file() const {
  const std::string file = output_is_answer_ ? text("output") : "";
  return file == "-" ? "" : file;
}

Format Flags::format() const {
  if (info_.find("format") == nullptr) return Format::Table;
  std::string name = text("format");
  const std::string file = answer_file();
  if (!given("format") && file.ends_with(".csv")) name = "csv";
  if (!given("format") && file.ends_with(".json")) name = "json";
  if (name == "table") return Format::Table;
  if (name == "csv") return Format::Csv;
  if (name == "json") return Format::Json;
  throw complaint("format", "'" + name + "' is not table, csv or json");
}

void Flags::deliver(std::string_view content) const {
  if (const std::string file = answer_file(); !file.empty())
    write_text_file(file, content);
  else
    write_stdout(content);
}

void Flags::deliver_table(std::string_view content) const {
  const bool colored = answer_file().empty() && is_colored(Stream::Output);
  deliver(colored ? with_bold_headers(content) : std::string(content));
}

void Flags::note(const std::string& line) const {
  if (!quiet())
    std::fprintf(stderr, "%s %s\n", bold(Stream::Error, "gradcast:").c_str(), line.c_str());
}

}  // namespace gradcast
