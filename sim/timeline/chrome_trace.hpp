// Reads Chrome trace JSON: our own timelines, and those of PyTorch's profiler and others.
#pragma once
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sim/answers/document.hpp"
#include "sim/timeline/spans.hpp"

namespace gradcast {

/// The texts of a trace, each kept once: a long trace repeats a few names millions of times.
class TraceTexts {
 public:
  /// Valid as long as this object or a copy of it.
  std::string_view keep(std::string_view text);

 private:
  std::shared_ptr<std::set<std::string, std::less<>>> texts_ =
      std::make_shared<std::set<std::string, std::less<>>>();
};

/// Its texts are valid as long as their trace.
struct TraceSlice {
  Span span;
  std::string_view name{};
  std::string_view category{};
  std::string_view phase{};  // args.phase: "forward", ...; "" where there is none
  std::string_view part{};   // args.part: "wait", "active", "exposed" inside a collective
  std::string_view step{};   // args.step: of a collective, the name in the plan
};

/// The slices of one thread of one process.
struct TraceLane {
  std::string process_id{};  // numbers as text
  std::string thread_id{};
  std::string process{};  // their names; "" where the file has none
  std::string thread{};
  std::vector<TraceSlice> slices{};  // by start, the longer first
};

struct TraceSample {
  Nanoseconds at = 0;
  double value = 0;
};

/// One series of a counter.
struct TraceCounter {
  std::string process_id{};
  std::string name{};                  // "node0.nic0.up"
  std::string series{};                // "Gbps"
  std::vector<TraceSample> samples{};  // by date
};

struct TraceNotNested {
  std::string lane{};  // "rank 0 (node 0), network"
  TraceSlice outer{};
  TraceSlice inner{};
};

struct ChromeTrace {
  TraceTexts texts{};
  std::vector<TraceLane> lanes{};        // numbers first and by value, by process and thread
  std::vector<TraceCounter> counters{};  // likewise, by process, name and series
  std::optional<int> world_size{};       // distributedInfo's
  std::optional<int> seen_from_rank{};   // the rank whose parts our forecasts tell
  std::vector<std::string> notes{};      // otherData.notes of our timelines

  /// The lane of a process and a thread; nullptr if there is none. `process` is a process's id
  /// ("0"), `thread` a thread's name.
  const TraceLane* find(const std::string& process, const std::string& thread) const;
};

/// Makes a trace of events that come one by one.
class ChromeTraceBuilder {
 public:
  explicit ChromeTraceBuilder(std::string file);
  ~ChromeTraceBuilder();
  /// Throws DataError for an event that is not as the format says.
  void add(const Json& event);
  /// `head`: the document around the events, or an empty list of them. May be called once. Throws
  /// DataError for a document of something else.
  ChromeTrace finish(const Json& head);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Slices ("X"), counters ("C") and names ("M") of .json or .json.gz, an object with "traceEvents"
/// or an array of events; all else is ignored. Dates are microseconds (whole, with a fraction, or
/// as text) and become nanoseconds. The file is read in one pass. Throws DataError for a file that
/// is not such a trace, MissingError for .gz without zlib.
ChromeTrace read_chrome_trace(const std::filesystem::path& path);

/// The first two slices of a lane that overlap without nesting, of which Perfetto drops one.
std::optional<TraceNotNested> first_that_does_not_nest(const ChromeTrace& trace);

}  // namespace gradcast
