#include "sim/timeline/chrome_trace.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "sim/answers/json_reader.hpp"
#include "sim/base/block_reader.hpp"
#include "sim/base/clean_text.hpp"
#include "sim/base/error.hpp"
#include "sim/base/text.hpp"
#include "sim/base/units.hpp"

namespace gradcast {
namespace {

/// Microseconds. An absolute date is about 2e15 (since 1970); with these bounds no sum or
/// difference of two dates overflows an int64 of nanoseconds.
constexpr double kEarliestDate = -1e15;
constexpr double kLatestDate = 4e15;

}  // namespace

struct ChromeTraceBuilder::State {
  explicit State(std::string its_file) : file(std::move(its_file)) {}

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

  DataError failure(const std::string& what) const {
    return {file, 0, "event " + std::to_string(number_) + ": " + what};
  }

  static std::string text_of(const Json& event, const char* key) {
    const auto at = event.find(key);
    if (at == event.end() || at->is_null()) return "";
    return at->is_string() ? at->get<std::string>() : at->dump();
  }

  Nanoseconds time_of(const Json& event, const char* key) const {
    const auto at = event.find(key);
    const auto refusal = [&](const std::string& what) {
      return failure(std::string("\"") + key + "\" of '" +
                     shortened(clean_text(text_of(event, "name")), 60) + "' is " + what);
    };
    if (at == event.end()) throw refusal("missing");
    const auto no_time = [&] {
      return refusal(shortened(clean_text(at->dump()), 40) + ", not microseconds");
    };
    double number = NAN;
    try {
      if (at->is_number()) number = at->get<double>();
      if (at->is_string()) number = parse_number(at->get<std::string>());
    } catch (const ValueError&) {
      throw no_time();
    }
    if (!(number >= kEarliestDate && number <= kLatestDate)) throw no_time();
    // Whole microseconds are exact; a double has too few digits for the nanoseconds of a date.
    return at->is_number_integer() ? at->get<std::int64_t>() * 1000 : std::llround(number * 1000);
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
    if (length < 0)
      throw failure("\"dur\" of '" + shortened(clean_text(text_of(event, "name")), 60) +
                    "' is negative");
    slice.span.end = slice.span.start + length;
    slice.name = trace_.texts.keep(text_of(event, "name"));
    slice.category = trace_.texts.keep(text_of(event, "cat"));
    if (const auto args = event.find("args"); args != event.end() && args->is_object()) {
      slice.phase = trace_.texts.keep(text_of(*args, "phase"));
      slice.part = trace_.texts.keep(text_of(*args, "part"));
      slice.step = trace_.texts.keep(text_of(*args, "step"));
    }
    // Slices of a thread mostly come together.
    if (last_ == nullptr || last_->first != id) last_ = &*slices_.try_emplace(id).first;
    last_->second.push_back(slice);
  }

  void take_counter(const Json& event, const Id& id) {
    const auto args = event.find("args");
    if (args == event.end() || !args->is_object()) return;
    const Nanoseconds at = time_of(event, "ts");
    for (const auto& [series, value] : args->items())
      if (value.is_number())
        counters_[id.first][{text_of(event, "name"), series}].push_back({at, value.get<double>()});
  }

  static std::optional<int> rank_of(const Json& head, const char* part, const char* key) {
    const auto at = head.find(part);
    if (at == head.end() || !at->is_object()) return std::nullopt;
    const auto number = at->find(key);
    if (number == at->end() || !number->is_number_integer()) return std::nullopt;
    const double value = number->get<double>();  // a larger one than an int may stand there
    return value >= 0 && value <= 1e9 ? std::optional(number->get<int>()) : std::nullopt;
  }

  void take_head(const Json& head) {
    if (!head.is_object()) return;
    trace_.world_size = rank_of(head, "distributedInfo", "world_size");
    trace_.seen_from_rank = rank_of(head, "otherData", "seen_from_rank");
    const auto other = head.find("otherData");
    if (other == head.end() || !other->is_object()) return;
    const auto notes = other->find("notes");
    if (notes == other->end() || !notes->is_array()) return;
    for (const Json& note : *notes)
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
    std::sort(trace_.lanes.begin(), trace_.lanes.end(), [](const TraceLane& a, const TraceLane& b) {
      return InOrder()(Id{a.process_id, a.thread_id}, Id{b.process_id, b.thread_id});
    });
    for (auto& [process, series] : counters_)
      for (auto& [id, samples] : series) {
        std::stable_sort(samples.begin(), samples.end(),
                         [](const TraceSample& a, const TraceSample& b) { return a.at < b.at; });
        trace_.counters.push_back({process, id.first, id.second, std::move(samples)});
      }
    return std::move(trace_);
  }

  std::string file;
  std::size_t number_ = 0;  // the event's, from 1
  ChromeTrace trace_;
  std::map<std::string, std::string> processes_;
  std::map<Id, std::string> threads_;
  std::map<Id, std::vector<TraceSlice>> slices_;
  std::pair<const Id, std::vector<TraceSlice>>* last_ = nullptr;  // entry of slices_ used last
  std::map<std::string, std::map<Id, std::vector<TraceSample>, InOrder>, InOrder> counters_;
};

ChromeTraceBuilder::ChromeTraceBuilder(std::string file)
    : state_(std::make_unique<State>(std::move(file))) {}

ChromeTraceBuilder::~ChromeTraceBuilder() = default;

void ChromeTraceBuilder::add(const Json& event) {
  ++state_->number_;
  if (event.is_object()) state_->take_event(event);
}

ChromeTrace ChromeTraceBuilder::finish(const Json& head) {
  const auto list = head.is_object() ? head.find("traceEvents") : head.end();
  if (!head.is_array() && (list == head.end() || !list->is_array()))
    throw DataError(state_->file, 0,
                    "is no trace: neither an array of events nor an object with \"traceEvents\"");
  state_->take_head(head);
  return state_->finish();
}

std::string_view TraceTexts::keep(std::string_view text) {
  const auto found = texts_->find(text);
  return found != texts_->end() ? *found : *texts_->emplace(text).first;
}

const TraceLane* ChromeTrace::find(const std::string& process, const std::string& thread) const {
  const auto at = std::find_if(lanes.begin(), lanes.end(), [&](const TraceLane& lane) {
    return lane.process_id == process && lane.thread == thread;
  });
  return at == lanes.end() ? nullptr : &*at;
}

ChromeTrace read_chrome_trace(const std::filesystem::path& path) {
  BlockReader file(path);
  ChromeTraceBuilder trace(path.string());
  const JsonLists events{{"traceEvents", ""}, [&](std::size_t, Json& event) { trace.add(event); }};
  const Json head = read_json(file, events);
  return trace.finish(head);
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
