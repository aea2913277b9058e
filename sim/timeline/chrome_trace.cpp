#include "sim/timeline/chrome_trace.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>

#include "sim/answers/document.hpp"
#include "sim/base/error.hpp"
#include "sim/base/text.hpp"
#include "sim/base/text_file.hpp"
#include "sim/timeline/gzip.hpp"

namespace gradcast {
namespace {

std::string read_bytes(const std::filesystem::path& path) {
  // This also refuses a folder, and a file that does not exist.
  std::ifstream file(path, std::ios::binary);
  const auto refuse = [&] { return DataError(path.string(), 0, "cannot read this file"); };
  if (!file || std::filesystem::is_directory(path)) throw refuse();
  std::string bytes;
  std::string block(std::size_t{1} << 20, '\0');
  while (file.read(block.data(), static_cast<std::streamsize>(block.size())) || file.gcount() > 0) {
    bytes.append(block, 0, static_cast<std::size_t>(file.gcount()));
    if (bytes.size() > kLongestTextFile)
      throw DataError(path.string(), 0,
                      "has more than " + std::to_string(kLongestTextFile) + " bytes");
  }
  if (file.bad()) throw refuse();
  return bytes;
}

/// Handles events one at a time, so that a large file is never in memory as a tree.
class Reader {
 public:
  explicit Reader(std::string file) : file_(std::move(file)) {}

  ChromeTrace read(const std::string& text) {
    Json rest;
    try {
      rest = Json::parse(text, [this](int depth, Json::parse_event_t what, Json& parsed) {
        return keep(depth, what, parsed);
      });
    } catch (const Json::parse_error& error) {
      const std::size_t byte = std::min(error.byte > 0 ? error.byte - 1 : 0, text.size());
      const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<long>(byte), '\n');
      throw DataError(file_, static_cast<std::size_t>(line),
                      "is no whole JSON: byte " + std::to_string(byte + 1) +
                          (byte < text.size() ? " does not belong there" : " should go on"));
    } catch (const Json::exception& error) {
      throw DataError(file_, 0, std::string("is no trace: ") + error.what());
    }
    if (!rest.is_array() && !(rest.is_object() && has_events_))
      throw DataError(file_, 0,
                      "is no trace: neither an array of events nor an object with \"traceEvents\"");
    if (rest.is_object()) take_head(rest);
    return finish();
  }

 private:
  using Id = std::pair<std::string, std::string>;

  /// "2" before "10" before "Spans".
  struct InOrder {
    bool operator()(const std::string& a, const std::string& b) const {
      return natural_less(a, b) != natural_less(b, a) ? natural_less(a, b) : a < b;
    }
    bool operator()(const Id& a, const Id& b) const {
      return a.first != b.first ? (*this)(a.first, b.first) : (*this)(a.second, b.second);
    }
  };

  /// False: it was an event, and is done with.
  bool keep(int depth, Json::parse_event_t what, Json& parsed) {
    using Event = Json::parse_event_t;
    if (depth == 0 && what == Event::array_start) bare_ = has_events_ = in_events_ = true;
    if (!bare_ && depth == 1) {
      if (what == Event::key) key_ = parsed.get<std::string>();
      if (what == Event::array_start && key_ == "traceEvents") has_events_ = in_events_ = true;
      if (what == Event::array_end) in_events_ = false;
    }
    if (!in_events_ || what != Event::object_end || depth != (bare_ ? 1 : 2)) return true;
    ++number_;
    take_event(parsed);
    return false;
  }

  DataError failure(const std::string& what) const {
    return {file_, 0, "event " + std::to_string(number_) + ": " + what};
  }

  static std::string text_of(const Json& event, const char* key) {
    const auto at = event.find(key);
    if (at == event.end() || at->is_null()) return "";
    return at->is_string() ? at->get<std::string>() : at->dump();
  }

  Nanoseconds time_of(const Json& event, const char* key) const {
    const auto at = event.find(key);
    const std::string of_what = std::string("\"") + key + "\" of '" + text_of(event, "name") + "'";
    if (at == event.end()) throw failure(of_what + " is missing");
    constexpr std::int64_t kMost =
        9'000'000'000'000'000;  // microseconds in an int64 of nanoseconds
    if (at->is_number_integer() && at->get<double>() < static_cast<double>(kMost)) {
      const auto whole = at->get<std::int64_t>();
      if (whole > -kMost) return whole * 1000;
    } else if (at->is_number() || at->is_string()) {
      double number = 0;
      try {
        number = at->is_string() ? parse_number(at->get<std::string>()) : at->get<double>();
      } catch (const ValueError&) {
        throw failure(of_what + " is " + at->dump() + ", not microseconds");
      }
      if (std::abs(number) < static_cast<double>(kMost)) return std::llround(number * 1000);
    }
    throw failure(of_what + " is " + at->dump() + ", not microseconds");
  }

  void take_event(const Json& event) {
    const std::string what = text_of(event, "ph");
    const Id id{text_of(event, "pid"), text_of(event, "tid")};
    if (what == "M")
      take_name(event, id);
    else if (what == "X")
      take_slice(event, id);
    else if (what == "C")
      take_counter(event, id);
  }

  void take_name(const Json& event, const Id& id) {
    const auto args = event.find("args");
    if (args == event.end() || !args->is_object()) return;
    const std::string what = text_of(event, "name");
    if (what == "process_name") processes_[id.first] = text_of(*args, "name");
    if (what == "thread_name") threads_[id] = text_of(*args, "name");
  }

  void take_slice(const Json& event, const Id& id) {
    TraceSlice slice;
    slice.span.start = time_of(event, "ts");
    const Nanoseconds length = time_of(event, "dur");
    if (length < 0) throw failure("\"dur\" of '" + text_of(event, "name") + "' is negative");
    slice.span.end = slice.span.start + length;
    slice.name = text_of(event, "name");
    slice.category = text_of(event, "cat");
    if (const auto args = event.find("args"); args != event.end() && args->is_object()) {
      slice.phase = text_of(*args, "phase");
      slice.part = text_of(*args, "part");
      slice.step = text_of(*args, "step");
    }
    slices_[id].push_back(std::move(slice));
  }

  void take_counter(const Json& event, const Id& id) {
    const auto args = event.find("args");
    if (args == event.end() || !args->is_object()) return;
    const Nanoseconds at = time_of(event, "ts");
    for (const auto& [series, value] : args->items())
      if (value.is_number())
        counters_[id.first][{text_of(event, "name"), series}].push_back({at, value.get<double>()});
  }

  void take_head(const Json& rest) {
    const auto inner = [&](const char* part, const char* key) -> Json {
      const auto at = rest.find(part);
      if (at == rest.end() || !at->is_object() || !at->contains(key)) return nullptr;
      return (*at)[key];
    };
    if (const Json size = inner("distributedInfo", "world_size"); size.is_number_integer())
      trace_.world_size = size.get<int>();
    if (const Json rank = inner("otherData", "seen_from_rank"); rank.is_number_integer())
      trace_.seen_from_rank = rank.get<int>();
    if (const Json notes = inner("otherData", "notes"); notes.is_array())
      for (const Json& note : notes)
        if (note.is_string()) trace_.notes.push_back(note.get<std::string>());
  }

  ChromeTrace finish() {
    for (auto& [id, slices] : slices_) {
      std::stable_sort(slices.begin(), slices.end(), [](const TraceSlice& a, const TraceSlice& b) {
        return a.span.start != b.span.start ? a.span.start < b.span.start : a.span.end > b.span.end;
      });
      trace_.lanes.push_back(
          {id.first, id.second, processes_[id.first], threads_[id], std::move(slices)});
    }
    for (auto& [process, series] : counters_)
      for (auto& [id, samples] : series) {
        std::stable_sort(samples.begin(), samples.end(),
                         [](const TraceSample& a, const TraceSample& b) { return a.at < b.at; });
        trace_.counters.push_back({process, id.first, id.second, std::move(samples)});
      }
    return std::move(trace_);
  }

  std::string file_;
  bool bare_ = false;  // an array of events
  bool has_events_ = false;
  bool in_events_ = false;
  std::string key_;
  std::size_t number_ = 0;  // of the event, from 1
  ChromeTrace trace_;
  std::map<std::string, std::string> processes_;
  std::map<Id, std::string> threads_;
  std::map<Id, std::vector<TraceSlice>, InOrder> slices_;
  std::map<std::string, std::map<Id, std::vector<TraceSample>, InOrder>, InOrder> counters_;
};

}  // namespace

const TraceLane* ChromeTrace::find(const std::string& process, const std::string& thread) const {
  const auto at = std::find_if(lanes.begin(), lanes.end(), [&](const TraceLane& lane) {
    return lane.process_id == process && lane.thread == thread;
  });
  return at == lanes.end() ? nullptr : &*at;
}

std::string read_maybe_packed(const std::filesystem::path& path) {
  const std::string bytes = read_bytes(path);
  return is_gzip(bytes) ? gunzip(bytes, path.string(), kLongestTextFile) : bytes;
}

ChromeTrace read_chrome_trace(const std::filesystem::path& path) {
  return Reader(path.string()).read(read_maybe_packed(path));
}

std::optional<TraceNotNested> first_that_does_not_nest(const ChromeTrace& trace) {
  for (const TraceLane& lane : trace.lanes) {
    std::vector<Span> spans;
    for (const TraceSlice& slice : lane.slices) spans.push_back(slice.span);
    if (const auto wrong = first_that_does_not_nest(spans)) {
      const auto name = [](const std::string& its_name, const std::string& id) {
        return its_name.empty() ? id : its_name;
      };
      return TraceNotNested{
          name(lane.process, lane.process_id) + ", " + name(lane.thread, lane.thread_id),
          lane.slices[wrong->first], lane.slices[wrong->second]};
    }
  }
  return std::nullopt;
}

}  // namespace gradcast
