#include "sim/sweep/store.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <system_error>

#include "sim/answers/document.hpp"
#include "sim/answers/doubt_json.hpp"
#include "sim/answers/json_reader.hpp"
#include "sim/base/error.hpp"
#include "sim/base/paths.hpp"
#include "sim/base/temporary_file.hpp"
#include "sim/base/text_file.hpp"
#include "sim/base/units.hpp"

namespace gradcast {
namespace {

namespace fs = std::filesystem;

struct Time {
  const char* name;
  Seconds IterationResult::*member;
};

/// More messages than any machine simulates.
constexpr std::int64_t kMostCounted = std::int64_t{1} << 53;

constexpr std::array<Time, 11> kTimes = {{{"iteration", &IterationResult::iteration},
                                          {"forward", &IterationResult::forward},
                                          {"backward", &IterationResult::backward},
                                          {"encode", &IterationResult::encode},
                                          {"communication", &IterationResult::communication},
                                          {"exposed", &IterationResult::exposed_communication},
                                          {"decode", &IterationResult::decode},
                                          {"update", &IterationResult::update},
                                          {"overhead", &IterationResult::overhead},
                                          {"wait", &IterationResult::wait},
                                          {"hidden_codec", &IterationResult::hidden_codec}}};

/// A whole number of a line. Throws ValueError where it is none, or one that no forecast has: a
/// number of 1e80 would become any int.
std::int64_t whole(const Json& line, const char* name, std::int64_t most) {
  const Json& value = line.at(name);
  const bool fits = value.is_number_unsigned() &&  // a type of its own: one that is not negative
                    value.get<std::uint64_t>() <= static_cast<std::uint64_t>(most);
  if (fits) return value.get<std::int64_t>();
  throw ValueError("'" + std::string(name) + "' is " +
                   (value.is_number() ? value.dump() : "no number") +
                   ", but should be a whole number from 0 to " + std::to_string(most));
}

int small(const Json& line, const char* name) {
  return static_cast<int>(whole(line, name, std::numeric_limits<int>::max()));
}

/// A time of a line. Throws ValueError for less than no time.
Seconds time(const Json& line, const char* name) {
  const double seconds = line.at(name);
  if (seconds >= 0) return Seconds{seconds};
  throw ValueError("'" + std::string(name) + "' is " + number_to_text(seconds) +
                   " s, but should be 0 or more");
}

/// Throws ValueError for what is no forecast, though it has the form of one.
Evaluation from_json(const Json& line) {
  Evaluation evaluation;
  evaluation.problem = line.at("problem");
  for (const auto& [name, member] : kTimes) evaluation.result.*member = time(line, name);
  evaluation.result.rank = small(line, "rank");
  evaluation.result.flows_simulated = whole(line, "flows", kMostCounted);
  evaluation.result.engine = line.at("engine");
  evaluation.ranks = small(line, "ranks");
  evaluation.batch = small(line, "batch");
  evaluation.compute = time(line, "compute");
  evaluation.collective = line.at("collective");
  evaluation.evidence = line.at("evidence");
  evaluation.outside = line.at("outside");
  if (line.contains("memory")) evaluation.memory = Bytes{whole(line, "memory", kMostCounted)};
  if (line.contains("assumed")) evaluation.assumed = line.at("assumed");
  if (line.contains("outside_seen")) evaluation.outside_seen = line.at("outside_seen");
  if (line.contains("low")) {
    evaluation.interval = ForecastInterval{time(line, "low"), time(line, "high")};
    if (evaluation.interval->low > evaluation.interval->high)
      throw ValueError("'low' is above 'high'");
  }
  if (line.contains("doubt")) {
    evaluation.doubt = doubt_from(line.at("doubt"));
    evaluation.stacked = evaluation.doubt.spread.has_value();
  }
  if (evaluation.compute > Seconds{0} && evaluation.result.iteration <= Seconds{0})
    throw ValueError("'iteration' is 0, though 'compute' is not");
  return evaluation;
}

[[noreturn]] void refuse_read(const fs::path& file) {
  throw DataError(file.string(), 0, std::string("cannot read this file: ") + std::strerror(errno));
}

[[noreturn]] void refuse_write(const fs::path& file) {
  throw Error(ExitCode::Failure, "cannot write '" + file.string() + "': " + std::strerror(errno));
}

/// `torn`: the last line may have been cut off.
void read_lines(const TextFile& file, bool torn, Evaluations& into) {
  std::size_t number = 0;
  for (std::size_t begin = 0; begin < file.content.size();) {
    ++number;
    const std::size_t end = file.content.find('\n', begin);
    if (end == std::string::npos && torn) return;
    const std::string line = file.content.substr(begin, end - begin);
    begin = end == std::string::npos ? file.content.size() : end + 1;
    const auto refuse = [&](const std::string& why) {
      throw DataError(
          file.path.string(), number,
          "this is not a forecast of a sweep" + why + "; remove the file to start again");
    };
    try {
      const Json json = parse_json(line, file.path.string(), number);
      into.insert_or_assign(json.at("key"), from_json(json));
    } catch (const nlohmann::json::exception&) {
      if (torn) return;
      refuse("");
    } catch (const DataError&) {
      if (torn) return;  // and what a full disk left behind it
      refuse("");
    } catch (const ValueError& error) {
      if (torn) return;
      refuse(" (" + std::string(error.what()) + ")");
    }
  }
}

std::vector<fs::path> parts_of(const fs::path& file) {
  std::vector<fs::path> parts;
  const std::string begin = file.filename().string() + ".";
  for (const fs::path& entry : entries_of(file.parent_path().empty() ? "." : file.parent_path())) {
    const std::string name = entry.filename().string();
    if (name.starts_with(begin) && name.ends_with(".part")) parts.push_back(entry);
  }
  return parts;
}

/// Reads a part as far as it is whole; a machine that stops may leave NULs at its end. Reads
/// nothing if another process, which finished first, has removed the part: the file then has what
/// it held.
void read_part(const fs::path& part, Evaluations& into) {
  if (!kept_file_at(part)) return;
  std::ifstream file(part, std::ios::binary);
  if (!file && kept_file_at(part)) refuse_read(part);
  read_lines({part, {std::istreambuf_iterator<char>(file), {}}}, true, into);
}

}  // namespace

std::string to_line(const std::string& key, const Evaluation& evaluation) {
  Json line;
  line["key"] = key;
  line["problem"] = evaluation.problem;
  for (const auto& [name, member] : kTimes) line[name] = (evaluation.result.*member).count();
  line["rank"] = evaluation.result.rank;
  line["flows"] = evaluation.result.flows_simulated;
  line["engine"] = evaluation.result.engine;
  line["ranks"] = evaluation.ranks;
  line["batch"] = evaluation.batch;
  line["compute"] = evaluation.compute.count();
  line["collective"] = evaluation.collective;
  line["evidence"] = evaluation.evidence;
  line["outside"] = evaluation.outside;
  if (evaluation.memory.count > 0) line["memory"] = evaluation.memory.count;
  if (!evaluation.assumed.empty()) line["assumed"] = evaluation.assumed;
  if (!evaluation.outside_seen.empty()) line["outside_seen"] = evaluation.outside_seen;
  if (evaluation.interval) {
    line["low"] = evaluation.interval->low.count();
    line["high"] = evaluation.interval->high.count();
  }
  if (const ForecastDoubt doubt = evaluation.software_doubt(); doubt.deviations || doubt.spread)
    line["doubt"] = to_json(doubt);
  // A name in a problem may not be UTF-8.
  return line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Evaluation from_line(const std::string& line) { return from_json(Json::parse(line)); }

Evaluations read_store(const fs::path& file) {
  Evaluations all;
  read_lines(read_text_file(file), false, all);
  return all;
}

Store::Store(fs::path file) : file_(std::move(file)) {
  for (const fs::path& part : parts_of(file_)) read_part(part, done_);
  if (kept_file_at(file_)) done_.merge(read_store(file_));
}

Store::~Store() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void Store::open_part() {
  const std::string base = file_.string() + "." + process_name();
  int attempt = 0;
  do {  // an earlier process of this number may have left one
    part_ = base + (attempt > 0 ? "-" + std::to_string(attempt) : "") + ".part";
    descriptor_ = ::open(part_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
  } while (descriptor_ < 0 && errno == EEXIST && ++attempt < 10'000);
  if (descriptor_ < 0) refuse_write(part_);
}

void Store::add(const std::string& key, const Evaluation& evaluation) {
  const std::string line = to_line(key, evaluation);
  if (!write_whole(descriptor_, line.data(), line.size())) refuse_write(part_);
}

void Store::finish(const Evaluations& all) {
  std::string content;
  for (const auto& [key, evaluation] : all) content += to_line(key, evaluation);
  write_text_file(file_, content);
  std::error_code ignored;
  for (const fs::path& part : parts_of(file_)) fs::remove(part, ignored);
}

}  // namespace gradcast
