#include "sim/timeline/timeline_json.hpp"

#include <algorithm>
#include <optional>

#include "sim/base/gzip.hpp"
#include "sim/base/text.hpp"
#include "sim/base/units.hpp"

namespace gradcast {
namespace {

/// Collects text, and packs it at once if asked to, because a timeline of many ranks is large only
/// when unpacked.
class Sink {
 public:
  explicit Sink(bool gzip) {
    if (gzip) gzip_.emplace();
  }

  Sink& operator<<(std::string_view text) {
    text_ += text;
    if (gzip_ && text_.size() > kPiece) pack();
    return *this;
  }
  Sink& operator<<(char letter) { return *this << std::string_view(&letter, 1); }
  Sink& operator<<(std::int64_t number) { return *this << std::to_string(number); }

  std::string finish() {
    if (!gzip_) return std::move(text_);
    pack();
    return gzip_->finish();
  }

 private:
  static constexpr std::size_t kPiece = std::size_t{1} << 20;

  void pack() {
    gzip_->add(text_);
    text_.clear();
  }

  std::string text_;
  std::optional<Gzip> gzip_;
};

/// "12.034": microseconds with all their nanoseconds.
std::string microseconds(Nanoseconds time) {
  const std::string below = std::to_string(1000 + time % 1000);
  return std::to_string(time / 1000) + "." + below.substr(1);
}

std::string quoted(const std::string& text) {
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string_view phase_of(StepKind kind) {
  switch (kind) {
    case StepKind::Overhead:
      return "overhead";
    case StepKind::Forward:
      return "forward";
    case StepKind::Backward:
      return "backward";
    case StepKind::Encode:
      return "encode";
    case StepKind::Collective:
      return "collective";
    case StepKind::Wait:
      return "wait";
    case StepKind::Decode:
      return "decode";
    case StepKind::Update:
      break;
  }
  return "update";
}

/// Names of collectives in PyTorch's process groups.
std::string_view collective_name(Outcome outcome) {
  switch (outcome) {
    case Outcome::AllReduced:
      return "allreduce";
    case Outcome::AllGathered:
      return "allgather";
    case Outcome::Broadcast:
      return "broadcast";
    case Outcome::Passed:
      return "sendrecv";
    case Outcome::Scattered:
      break;
  }
  return "reduce_scatter";
}

class Writer {
 public:
  Writer(const Timeline& timeline, const Plan& plan, const RankLayout& layout, bool gzip)
      : timeline_(timeline), plan_(plan), layout_(layout), sink_(gzip) {
    for (const PlanStep& step : plan.steps) {
      names_.push_back(quoted(step.name));
      const bool collective = step.kind == StepKind::Collective;
      kernels_.push_back(collective ? quoted("ncclDevKernel_" + kernel_name(*step.collective))
                                    : "");
      inside_node_.push_back(collective && is_inside_node(*step.collective));
    }
  }

  std::string write(const TimelineHead& head) {
    const int first = head.ranks.empty() ? 0 : head.ranks.front();
    sink_ << R"({"schemaVersion":1,"displayTimeUnit":"ms","baseTimeNanoseconds":0,)"
          << "\n\"distributedInfo\":{\"backend\":\"nccl\",\"rank\":" << std::int64_t{first}
          << ",\"world_size\":" << std::int64_t{plan_.ranks()}
          << "},\n\"otherData\":" << head.other.dump(-1, ' ', false, Json::error_handler_t::replace)
          << ",\n\"traceEvents\":[";
    for (const int rank : head.ranks) write_rank(rank);
    write_links();
    sink_ << "\n]}\n";
    return sink_.finish();
  }

 private:
  struct Event {
    Nanoseconds at;
    enum Kind { Slice, Begin, End } kind;
    std::size_t number;  // index of the lane's slice, or of the class's arrow
  };

  void begin_event() { sink_ << (events_++ == 0 ? "\n" : ",\n"); }

  void write_metadata(std::int64_t pid, std::int64_t tid, std::string_view what,
                      std::string_view key, const std::string& value) {
    begin_event();
    sink_ << R"({"ph":"M","name":")" << what << R"(","pid":)" << pid << R"(,"tid":)" << tid
          << R"(,"args":{")" << key << "\":" << value << "}}";
  }

  void write_process(std::int64_t pid, const std::string& name) {
    write_metadata(pid, 0, "process_name", "name", quoted(name));
    write_metadata(pid, 0, "process_sort_index", "sort_index", std::to_string(pid));
  }

  void write_rank(int rank) {
    const TimelineClass& its =
        timeline_.classes[timeline_.class_of[static_cast<std::size_t>(rank)]];
    write_process(rank, "rank " + std::to_string(rank) + " (node " +
                            std::to_string(layout_.node_of(rank)) + ")");
    for (std::size_t lane = 0; lane < its.lanes.size(); ++lane) {
      const auto tid = static_cast<std::int64_t>(lane) + 1;
      write_metadata(rank, tid, "thread_name", "name", quoted(its.lanes[lane].name));
      write_metadata(rank, tid, "thread_sort_index", "sort_index", std::to_string(tid));
    }
    for (std::size_t lane = 0; lane < its.lanes.size(); ++lane) write_lane(rank, its, lane);
    arrows_ += static_cast<std::int64_t>(its.arrows.size());
  }

  /// Arrows come after slices of the same date, because they belong to the slice that is open then.
  /// For this reason an arrow leaves a nanosecond before its slice ends.
  void write_lane(int rank, const TimelineClass& its, std::size_t lane) {
    std::vector<Event> events;
    for (std::size_t i = 0; i < its.lanes[lane].slices.size(); ++i)
      events.push_back({its.lanes[lane].slices[i].span.start, Event::Slice, i});
    for (std::size_t i = 0; i < its.arrows.size(); ++i) {
      const TimelineArrow& arrow = its.arrows[i];
      if (arrow.from_lane == lane)
        events.push_back({its.steps[arrow.from_step].end - 1, Event::Begin, i});
      if (arrow.to_lane == lane) events.push_back({its.steps[arrow.to_step].start, Event::End, i});
    }
    std::stable_sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
      return a.at != b.at ? a.at < b.at : (a.kind == Event::Slice) > (b.kind == Event::Slice);
    });
    for (const Event& event : events)
      if (event.kind == Event::Slice)
        write_slice(rank, lane, its.lanes[lane].slices[event.number]);
      else
        write_arrow(rank, lane, event);
  }

  void write_slice(int rank, std::size_t lane, const TimelineSlice& slice) {
    const PlanStep& step = plan_.steps[slice.step];
    const bool whole = slice.part == SlicePart::Step;
    const bool kernel = whole && step.kind != StepKind::Wait;
    const bool collective = step.kind == StepKind::Collective;
    static constexpr std::string_view kTitles[] = {"", "wait for other ranks", "active", "exposed"};
    static constexpr std::string_view kParts[] = {"", "wait", "active", "exposed"};
    const auto part = static_cast<std::size_t>(slice.part);
    begin_event();
    sink_ << R"({"ph":"X","cat":")" << (kernel ? "kernel" : "gpu_user_annotation")
          << R"(","name":)";
    if (!whole)
      sink_ << '"' << kTitles[part] << '"';
    else
      sink_ << (collective ? kernels_ : names_)[slice.step];
    sink_ << R"(,"pid":)" << std::int64_t{rank} << R"(,"tid":)"
          << static_cast<std::int64_t>(lane) + 1 << R"(,"ts":)" << microseconds(slice.span.start)
          << R"(,"dur":)" << microseconds(slice.span.end - slice.span.start) << R"(,"args":{)";
    if (!whole) {
      sink_ << R"("part":")" << kParts[part] << R"(","step":)" << names_[slice.step] << "}}";
      return;
    }
    sink_ << R"("device":)" << std::int64_t{rank} << R"(,"stream":)"
          << static_cast<std::int64_t>(lane) + 1 << R"(,"phase":")" << phase_of(step.kind) << '"';
    if (collective) write_collective(rank, slice.step);
    sink_ << "}}";
  }

  void write_collective(int rank, std::size_t number) {
    constexpr std::int64_t kWord = 4;
    const PlanStep& step = plan_.steps[number];
    const int node = layout_.node_of(rank);
    const int group = inside_node_[number] ? layout_.gpus_of(node) : plan_.ranks();
    Bytes in = step.load.contribution(rank);
    Bytes out = in;
    if (step.collective->outcome == Outcome::Scattered) {
      out = chunk(in, 0, group);
    } else if (step.collective->outcome == Outcome::AllGathered && inside_node_[number]) {
      in = chunk(in, 0, group);  // its load is the whole
    } else if (step.collective->outcome == Outcome::AllGathered) {
      out = {};
      for (int each = 0; each < group; ++each) out = out + step.load.contribution(each);
    }
    sink_ << R"(,"step":)" << names_[number] << R"(,"bucket":)" << std::int64_t{step.priority}
          << R"(,"bytes":)" << in.count << R"(,"Collective name":")"
          << collective_name(step.collective->outcome) << R"(","In msg nelems":)"
          << in.count / kWord << R"(,"Out msg nelems":)" << out.count / kWord << R"(,"Group size":)"
          << std::int64_t{group} << R"(,"dtype":"Float")";
  }

  void write_arrow(int rank, std::size_t lane, const Event& event) {
    begin_event();
    sink_ << R"({"ph":")" << (event.kind == Event::Begin ? "s" : "f")
          << (event.kind == Event::Begin ? R"(")" : R"(","bp":"e")") << R"(,"id":)"
          << arrows_ + static_cast<std::int64_t>(event.number) + 1
          << R"(,"cat":"ready","name":"ready","pid":)" << std::int64_t{rank} << R"(,"tid":)"
          << static_cast<std::int64_t>(lane) + 1 << R"(,"ts":)" << microseconds(event.at) << "}";
  }

  void write_links() {
    if (timeline_.links.empty()) return;
    const std::int64_t pid = plan_.ranks();
    write_process(pid, "links");
    std::vector<const LinkLoad*> links;
    for (const LinkLoad& link : timeline_.links) links.push_back(&link);
    std::sort(links.begin(), links.end(),
              [](const LinkLoad* a, const LinkLoad* b) { return natural_less(a->name, b->name); });
    struct Sample {
      Nanoseconds at;
      std::size_t link;
      double gigabits;
    };
    std::vector<Sample> samples;
    for (std::size_t i = 0; i < links.size(); ++i)
      for (const LoadChange& change : links[i]->changes) {
        const Sample sample{to_nanoseconds(change.at), i,
                            rounded_to(6, change.rate.value * 8 / 1e9)};
        // If there are two changes in a nanosecond, the later one counts.
        if (!samples.empty() && samples.back().link == i && samples.back().at == sample.at)
          samples.back() = sample;
        else
          samples.push_back(sample);
      }
    std::stable_sort(samples.begin(), samples.end(),
                     [](const Sample& a, const Sample& b) { return a.at < b.at; });
    for (const Sample& sample : samples) {
      begin_event();
      sink_ << R"({"ph":"C","name":)" << quoted(links[sample.link]->name) << R"(,"pid":)" << pid
            << R"(,"tid":0,"ts":)" << microseconds(sample.at) << R"(,"args":{"Gbps":)"
            << number_to_text(sample.gigabits) << "}}";
    }
  }

  /// A collective around an encoding joins the GPUs of one node only.
  bool is_inside_node(const Collective& collective) const {
    return std::any_of(
        plan_.buckets.begin(), plan_.buckets.end(), [&](const PlannedBucket& bucket) {
          return bucket.collective != nullptr && (bucket.collective->before == &collective ||
                                                  bucket.collective->after == &collective);
        });
  }

  const Timeline& timeline_;
  const Plan& plan_;
  const RankLayout& layout_;
  Sink sink_;
  std::vector<std::string> names_;    // by step, quoted
  std::vector<std::string> kernels_;  // by step, of collectives
  std::vector<bool> inside_node_;     // by step, of collectives
  std::int64_t events_ = 0;
  std::int64_t arrows_ = 0;  // arrows of the ranks before
};

}  // namespace

std::string kernel_name(const Collective& collective) {
  std::string what = "AllReduce";
  std::string words = "-all-reduce";
  if (collective.outcome == Outcome::AllGathered) {
    what = "AllGather";
    words = "-all-gather";
  } else if (collective.outcome == Outcome::Scattered) {
    what = "ReduceScatter";
    words = "-reduce-scatter";
  } else if (collective.outcome == Outcome::Broadcast) {
    what = "Broadcast";
    words = "-broadcast";
  } else if (collective.outcome == Outcome::Passed) {
    return "SendRecv";
  }
  std::string how(collective.name);
  if (how.ends_with(words)) how.erase(how.size() - words.size());
  for (char& letter : how) {
    if (letter == '-') letter = '_';
    if (letter >= 'a' && letter <= 'z') letter = static_cast<char>(letter - 'a' + 'A');
  }
  return what + "_" + how;
}

std::string timeline_to_json(const Timeline& timeline, const Plan& plan, const RankLayout& layout,
                             const TimelineHead& head) {
  return Writer(timeline, plan, layout, head.gzip).write(head);
}

}  // namespace gradcast
