#include "sim/sweep/store.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <system_error>

#include "sim/answers/document.hpp"
#include "sim/base/error.hpp"
#include "sim/base/text_file.hpp"
#include "sim/base/write_whole.hpp"

namespace gradcast {
namespace {

namespace fs = std::filesystem;

struct Time {
  const char* name;
  Seconds IterationResult::*member;
};

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

Evaluation from_json(const Json& line) {
  Evaluation evaluation;
  evaluation.problem = line.at("problem");
  for (const auto& [name, member] : kTimes)
    evaluation.result.*member = Seconds{line.at(name).get<double>()};
  evaluation.result.rank = line.at("rank");
  evaluation.result.flows_simulated = line.at("flows");
  evaluation.result.engine = line.at("engine");
  evaluation.ranks = line.at("ranks");
  evaluation.batch = line.at("batch");
  evaluation.compute = Seconds{line.at("compute").get<double>()};
  evaluation.collective = line.at("collective");
  evaluation.evidence = line.at("evidence");
  evaluation.outside = line.at("outside");
  if (line.contains("low"))
    evaluation.interval = ForecastInterval{Seconds{line.at("low").get<double>()},
                                           Seconds{line.at("high").get<double>()}};
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
    try {
      const Json json = Json::parse(line);
      into.insert_or_assign(json.at("key"), from_json(json));
    } catch (const nlohmann::json::exception&) {
      if (torn) return;  // and what a full disk left behind it
      throw DataError(file.path.string(), number,
                      "this is not a forecast of a sweep; remove the file to start again");
    }
  }
}

std::vector<fs::path> parts_of(const fs::path& file) {
  std::vector<fs::path> parts;
  std::error_code ignored;
  const fs::path folder = file.parent_path().empty() ? "." : file.parent_path();
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(file.filename().string() + ".") && name.ends_with(".part"))
      parts.push_back(entry.path());
  }
  return parts;
}

/// Reads a part as far as it is whole; a machine that stops may leave NULs at its end. Reads
/// nothing if another process, which finished first, has removed the part: the file then has what
/// it held.
void read_part(const fs::path& part, Evaluations& into) {
  std::ifstream file(part, std::ios::binary);
  if (!file && fs::exists(part)) refuse_read(part);
  read_lines({part, {std::istreambuf_iterator<char>(file), {}}}, true, into);
}

/// A name that is unique among all processes that may write to a common disk.
std::string process_name() {
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) host = {"host"};
  return std::string(host.data()) + "-" + std::to_string(::getpid());
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
  if (evaluation.interval) {
    line["low"] = evaluation.interval->low.count();
    line["high"] = evaluation.interval->high.count();
  }
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
  std::error_code ignored;
  if (fs::exists(file_, ignored)) done_.merge(read_store(file_));
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
