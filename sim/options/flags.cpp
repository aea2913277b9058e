#include "sim/options/flags.hpp"

#include <sched.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <stdexcept>
#include <utility>

#include "kernels/compressor.hpp"
#include "sim/base/caller.hpp"
#include "sim/base/text.hpp"
#include "sim/base/text_file.hpp"
#include "sim/base/units.hpp"
#include "sim/options/color.hpp"

namespace gradcast {
namespace {

/// Flags that change how the answer is found or where it goes, but not the answer itself.
constexpr std::array<std::string_view, 9> kBesideTheAnswer = {
    "jobs", "shard", "output", "quiet", "color", "config", "timeline", "paje", "plot"};

bool is_beside_the_answer(const std::string& name) {
  return std::find(kBesideTheAnswer.begin(), kBesideTheAnswer.end(), name) !=
         kBesideTheAnswer.end();
}

/// Flags that every command has.
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

/// Compressors whose parameter somebody typed as a flag of its own: "powersgd" for "--rank".
std::vector<std::string> compressors_with(std::string_view typed) {
  std::vector<std::string> names;
  for (const Compressor* compressor : all_compressors())
    if (const std::string_view parameter = compressor->parameter.name;
        !parameter.empty() && typed == "--" + std::string(parameter))
      names.emplace_back(compressor->name);
  return names;
}

constexpr int kMostJobs = 1024;

int parse_jobs(std::string_view text) { return parse_count_to(kMostJobs, text); }

}  // namespace

Flags::Flags(std::string command, const std::string& summary,
             const std::vector<std::string>& examples, const std::string& output, Writes writes)
    : output_is_answer_(output.empty()) {
  info_.name = std::move(command);
  info_.summary = summary;
  info_.examples = examples;
  info_.flags = {
      {"format", 'f', "FORMAT", "table, csv or json", "table"},
      {"output", 'o', "FILE",
       output_is_answer_ ? "write there instead of standard output; .csv or .json sets the format"
                         : output,
       "", writes},
      {"quiet", 'q', "", "no notes on standard error", ""},
      {"color", 0, "WHEN", "auto, always or never", "auto"},
      {"config", 'c', "FILE",
       "TOML file with values for flags that are not given, or a folder with such a " +
           std::string(kFolderConfig) + "; none: no such file",
       ""},
      {"help", 'h', "", "this text", ""}};
}

void Flags::add(const std::string& name, const std::string& help, const std::string& fallback) {
  FlagInfo flag = named(name);
  flag.value = "VALUE";
  flag.help = help;
  flag.fallback = fallback;
  info_.flags.push_back(std::move(flag));
}

void Flags::add_written(const std::string& name, Writes writes, const std::string& help) {
  add(name, help);
  info_.flags.back().writes = writes;
  info_.flags.back().value = writes == Writes::Folder ? "FOLDER" : "FILE";
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

void Flags::add_folder_word() {
  add_words("[FOLDER]",
            std::string("a folder with a ") + kFolderConfig +
                ", as gradcast.probe leaves it: --config FOLDER",
            1);
  folder_word_ = true;
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

std::vector<std::string> Flags::keep_values() {
  if (caller() != nullptr) return {};  // it says all that it means
  std::string config = info_.find("config") == nullptr ? "" : text("config");
  if (folder_word_ && !words().empty()) {
    if (given("config")) throw UsageError("a folder and --config name two files; leave one out");
    config = words().front();
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(std::filesystem::path(config) / kFolderConfig, ignored))
      throw UsageError("'" + config + "' is no folder with a " + kFolderConfig +
                       "; describe the run by flags, see `gradcast " + command() + " --help`");
  }
  std::vector<std::string> kept_words;
  for (const KeptValue& kept : kept_values(info_, config)) {
    if (given(kept.flag)) continue;
    kept_[kept.flag] = kept;
    if (!is_switch(kept.flag))
      kept_words.push_back("--" + kept.flag + "=" + kept.value);
    else if (kept.value == "true")
      kept_words.push_back("--" + kept.flag);
  }
  if (has("config")) config_file_ = config_path(config);
  return kept_words;
}

bool Flags::parse(int argc, const char* const* argv) {
  if (argc == 2 && argv[1] == kDescribe) {
    info_.help = help_text(info_);
    throw CommandInfo(info_);
  }
  std::vector<std::string> typed(argv, argv + argc);
  line_ = parse_command_line(info_, typed);
  if (given("help")) {
    write_stdout(help_text(info_));
    return false;
  }
  require_values();
  choose_color(value("color", parse_color));
  if (const std::vector<std::string> kept = keep_values(); !kept.empty()) {
    typed.insert(typed.begin() + 1, kept.begin(), kept.end());
    line_ = parse_command_line(info_, typed);
    require_values();
    choose_color(value("color", parse_color));
  }
  static_cast<void>(format());
  require_writable();
  require_no_overwriting();
  require_known_ending();
  arguments_ = {"gradcast", command()};
  for (const GivenFlag& flag : line_.flags) {
    if (is_beside_the_answer(flag.name)) continue;
    arguments_.push_back("--" + flag.name);
    if (!is_switch(flag.name)) arguments_.push_back(flag.value);
  }
  if (folder_word_) line_.words.clear();
  for (const std::string& word : words()) arguments_.push_back(word);
  return true;
}

void Flags::require_values() const {
  require_known();
  if (words().size() > info_.most_words)
    throw UsageError("'" + words().back() + "' is one word too many; see `gradcast " + command() +
                     " --help`");
  for (const GivenFlag& flag : line_.flags) {
    if (flag.value.empty()) throw complaint(flag.name, "the value is empty");
    if (is_switch(flag.name) && flag.value != "true")
      throw UsageError("--" + flag.name + " takes no value");
    if (line_.find(flag.name) != &flag && !is_switch(flag.name))
      throw UsageError("--" + flag.name + " is given twice");
  }
}

void Flags::require_known() const {
  if (line_.unknown.empty()) return;
  const std::string& unknown = line_.unknown[0];
  const std::string typed = unknown.substr(0, unknown.find('='));
  if (!typed.starts_with("-"))
    throw UsageError("'" + typed + "' does not belong here: `gradcast " + command() +
                     "` takes flags only");
  std::vector<std::string> known;
  for (const FlagInfo& flag : info_.flags) known.push_back("--" + flag.name);
  if (std::find(known.begin(), known.end(), typed) != known.end())
    throw UsageError("'" + typed + "' stands where words stand: " +
                     (caller() != nullptr ? "flags are settings, given by name and value"
                                          : "flags go before '--'"));
  if (info_.find("parameter") != nullptr)
    if (const std::vector<std::string> whose = compressors_with(typed); !whose.empty())
      throw UsageError("unknown flag '" + typed + "'; " + and_joined(whose) + "'s " +
                       typed.substr(2) + " is --parameter");
  const std::string suggestion = did_you_mean(typed, known);
  throw UsageError("unknown flag '" + typed + "'" +
                   (suggestion.empty() ? "; see `gradcast " + command() + " --help`" : suggestion));
}

std::vector<std::string> Flags::own_names() const {
  std::vector<std::string> names;
  for (const FlagInfo& flag : info_.flags)
    if (!is_common(flag.name)) names.push_back(flag.name);
  return names;
}

bool Flags::given(const std::string& name) const { return line_.find(name) != nullptr; }

const FlagInfo& Flags::flag_named(const std::string& name) const {
  const FlagInfo* flag = info_.find(name);
  if (flag == nullptr) throw std::logic_error("`" + command() + "` has no flag --" + name);
  return *flag;
}

std::string Flags::typed_or_fallback(const std::string& name) const {
  const std::string& fallback = flag_named(name).fallback;
  const GivenFlag* found = line_.find(name);
  return found == nullptr ? fallback : found->value;
}

std::string Flags::text(const std::string& name) const {
  if (flag_named(name).writes != Writes::Nothing)
    throw std::logic_error("--" + name + " names what is written: take it from written()");
  return typed_or_fallback(name);
}

std::string Flags::written(const std::string& name) const {
  if (flag_named(name).writes == Writes::Nothing)
    throw std::logic_error("--" + name + " is written: add it by add_written()");
  return typed_or_fallback(name);
}

Error Flags::complaint(const std::string& name, const std::string& what) const {
  const auto found = kept_.find(name);
  if (found == kept_.end()) return UsageError("--" + name + ": " + what);
  const KeptValue& kept = found->second;
  if (kept.path.empty()) return UsageError(kept.origin + ": " + what);
  return DataError(kept.path, kept.line, "'" + name + "': " + what);
}

void Flags::note(const std::string& line) const {
  if (Caller* const program = caller()) return program->note(line);
  if (!quiet())
    std::fprintf(stderr, "%s %s\n", bold(StandardStream::Error, "gradcast:").c_str(), line.c_str());
}

void add_jobs_flag(Flags& flags) {
  flags.add("j,jobs",
            "processes or threads (default: as many as there are cores); changes no answer");
}

std::size_t chosen_jobs(const Flags& flags) {
  if (flags.given("jobs")) return static_cast<std::size_t>(flags.value("jobs", parse_jobs));
  cpu_set_t cores;
  const bool known = ::sched_getaffinity(0, sizeof cores, &cores) == 0;
  return known ? static_cast<std::size_t>(std::clamp(CPU_COUNT(&cores), 1, kMostJobs)) : 1;
}

}  // namespace gradcast
