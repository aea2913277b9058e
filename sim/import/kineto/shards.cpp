#include "sim/import/kineto/shards.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <string_view>

#include "sim/base/clean_text.hpp"
#include "sim/base/error.hpp"
#include "sim/import/kineto/model.hpp"

namespace gradcast::kineto {
namespace {

constexpr std::string_view kPreBackward = "FSDP::pre_backward";
constexpr std::string_view kReduce = "FSDP::post_backward_reduce";

/// A mark that FSDP2 makes on the host, of one unit.
struct Mark {
  Nanoseconds start = 0;
  Nanoseconds end = 0;
  std::string unit;  // "layers.0" of "FSDP::pre_backward (layers.0)"; "" for the root
};

std::string unit_of(std::string_view name, std::string_view prefix) {
  name.remove_prefix(prefix.size());
  const std::size_t open = name.find('('), close = name.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return "";
  std::string unit;
  for (const char letter : shortened(clean_text(name.substr(open + 1, close - open - 1)), 60)) {
    const bool plain = std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_' ||
                       letter == '.' || letter == '-';
    unit += plain ? letter : '_';
  }
  return unit;
}

/// Marks of that kind, by time.
std::vector<Mark> marks_of(const Recording& recording, std::string_view kind) {
  std::vector<Mark> marks;
  for (const Annotation& one : recording.annotations) {
    const std::string& name = recording.names.text(one.name);
    if (name.starts_with(kind)) marks.push_back({one.start, one.end, unit_of(name, kind)});
  }
  std::sort(marks.begin(), marks.end(),
            [](const Mark& a, const Mark& b) { return a.start < b.start; });
  return marks;
}

/// The last mark that began at or before the date.
std::vector<Mark>::const_iterator last_before(const std::vector<Mark>& marks, Nanoseconds date) {
  const auto after =
      std::upper_bound(marks.begin(), marks.end(), date,
                       [](Nanoseconds at, const Mark& mark) { return at < mark.start; });
  return after == marks.begin() ? marks.end() : after - 1;
}

/// Divides the gradients of one step among its reduce-scatters.
class UnitFinder {
 public:
  UnitFinder(const std::vector<Mark>& begins, const std::vector<Mark>& sends,
             StepGradients& gradients)
      : begins_(begins), sends_(sends), its_(gradients), waiting_(gradients.gradients.size()) {
    std::iota(waiting_.begin(), waiting_.end(), std::size_t{0});
  }

  void take(const CollectiveCall& call, bool last) {
    SentUnit unit;
    unit.elements = call.what.elements;
    const auto sent = last_before(sends_, call.launched);
    const bool marked = sent != sends_.end() && call.launched <= sent->end;
    if (marked) unit.name = sent->unit.empty() ? "root" : sent->unit;
    // The number of gradients that are done and wait to be sent.
    const auto done = static_cast<std::size_t>(
        std::partition_point(
            waiting_.begin(), waiting_.end(),
            [&](std::size_t i) { return its_.gradients[i].done <= call.launched; }) -
        waiting_.begin());
    std::size_t first = done;
    if (last)
      first = 0;
    else if (const auto begin = marked ? begin_of(sent->unit, call.launched) : begins_.end();
             begin != begins_.end())
      while (first > 0 && its_.gradients[waiting_[first - 1]].done >= begin->start) --first;
    else
      first = first_that_fits(done, unit.elements);
    const auto from = waiting_.begin() + static_cast<std::ptrdiff_t>(first);
    const auto to = last ? waiting_.end() : waiting_.begin() + static_cast<std::ptrdiff_t>(done);
    unit.gradients.assign(from, to);
    waiting_.erase(from, to);
    if (!unit.gradients.empty()) its_.units.push_back(std::move(unit));
  }

 private:
  /// The mark with which the backward pass of the unit began. The root's lasts longer than its own
  /// gradients.
  std::vector<Mark>::const_iterator begin_of(const std::string& unit, Nanoseconds date) const {
    if (unit.empty()) return begins_.end();
    for (auto mark = last_before(begins_, date); mark != begins_.end(); --mark) {
      if (mark->unit == unit) return mark;
      if (mark == begins_.begin()) break;
    }
    return begins_.end();
  }

  /// The waiting gradients that were done last, as many as there is room for.
  std::size_t first_that_fits(std::size_t done, std::int64_t room) const {
    if (room < 1) return 0;
    std::size_t first = done;
    while (first > 0) {
      const std::int64_t size = its_.gradients[waiting_[first - 1]].recorded;
      if (size > room) break;
      if (size > 0) room -= size;
      --first;
    }
    return first;
  }

  const std::vector<Mark>& begins_;
  const std::vector<Mark>& sends_;
  StepGradients& its_;
  std::vector<std::size_t> waiting_;
};

/// The most frequent type of the kind's elements by what they carry; 0: not said.
int bytes_of_most(const std::vector<StepCollectives>& steps,
                  bool (*wanted)(const CollectiveCall&)) {
  std::int64_t most = -1;
  int bytes = 0;
  for (const StepCollectives& step : steps)
    for (const CollectiveCall& call : step.calls)
      if (wanted(call) && call.what.element_bytes > 0 && call.what.elements > most) {
        most = call.what.elements;
        bytes = call.what.element_bytes;
      }
  return bytes;
}

bool gathers_ahead(const CollectiveCall& call) {
  return call.what.kind == CollectiveKind::AllGather && call.phase == Phase::Forward;
}

/// Times that belong together, as one part of the run that begins no earlier than all of them can.
struct Joined {
  Seconds time{0};
  Seconds launch{0};

  void take(Seconds its_time, Seconds its_launch) {
    launch = std::max(launch, its_launch - time);
    time += its_time;
  }
};

}  // namespace

std::optional<Shards> shards_of(const std::vector<StepCollectives>& steps, int world_size) {
  Shards shards;
  bool gathers = false, scatters = false;
  std::int64_t gathered = 0, scattered = 0;
  const auto size_of = [](const Collective& what) {
    return static_cast<int>(std::clamp<std::int64_t>(what.group_size, 0, 1'000'000));
  };
  for (const StepCollectives& step : steps)
    for (const CollectiveCall& call : step.calls) {
      if (call.what.kind == CollectiveKind::ReduceScatter && call.sends) {
        scatters = true;
        shards.group = std::max(shards.group, size_of(call.what));
      }
      if (gathers_ahead(call)) gathers = true;
      if (call.what.kind == CollectiveKind::AllGather && call.phase == Phase::Backward)
        shards.gathered_again = true;
    }
  if (!gathers || !scatters) return std::nullopt;
  if (shards.group < 2) shards.group = std::max(2, world_size);
  for (const StepCollectives& step : steps)
    for (const CollectiveCall& call : step.calls) {
      if (call.sends && call.what.elements > 0)
        scattered += call.what.elements / static_cast<std::int64_t>(steps.size());
      if (gathers_ahead(call) && call.what.elements > 0)
        gathered += std::min(call.what.elements,
                             std::numeric_limits<std::int64_t>::max() / shards.group / 1'000'000) *
                    shards.group / static_cast<std::int64_t>(steps.size());
      // The shards of a hybrid are added up across the copies.
      if (call.what.kind == CollectiveKind::AllReduce && call.of_gradients && world_size > 0 &&
          static_cast<std::int64_t>(size_of(call.what)) * shards.group == world_size)
        shards.copies = size_of(call.what);
    }
  shards.sum_bytes = bytes_of_most(steps, [](const CollectiveCall& call) { return call.sends; });
  shards.parameter_bytes = bytes_of_most(steps, gathers_ahead);
  // Parameters of several types are gathered as bytes.
  if (shards.parameter_bytes == 1 && scattered > 0 && gathered > scattered) {
    const double each = static_cast<double>(gathered) / static_cast<double>(scattered);
    shards.parameter_bytes = each > 3 ? 4 : 2;
    gathered /= shards.parameter_bytes;
  }
  shards.gathered = gathered;
  shards.scattered = scattered;
  return shards;
}

void require_data_parallel(const Recording& recording, const Shards& shards, int world_size) {
  if (world_size <= 0 || shards.group * shards.copies >= world_size ||
      has_data_parallel_group(recording))
    return;
  throw DataError(
      recording.file, 0,
      "is no plain data-parallel run: its shards are of " + std::to_string(shards.group) + " of " +
          std::to_string(world_size) +
          " ranks, and no all-reduce adds them up with those of the others, which tells "
          "of tensor or pipeline parallelism");
}

void set_units(const Recording& recording, const std::vector<StepCollectives>& collectives,
               std::vector<StepGradients>& gradients) {
  const std::vector<Mark> begins = marks_of(recording, kPreBackward);
  const std::vector<Mark> sends = marks_of(recording, kReduce);
  for (std::size_t i = 0; i < collectives.size() && i < gradients.size(); ++i) {
    const auto& calls = collectives[i].calls;
    const auto count = std::count_if(calls.begin(), calls.end(),
                                     [](const CollectiveCall& call) { return call.sends; });
    UnitFinder finder(begins, sends, gradients[i]);
    std::ptrdiff_t number = 0;
    for (const CollectiveCall& call : calls)
      if (call.sends) finder.take(call, ++number == count);
    std::set<std::string> names;
    for (const SentUnit& unit : gradients[i].units)
      if (!unit.name.empty() && !names.insert(unit.name).second)
        throw DataError(recording.file, 0,
                        "has several backward passes in " + collectives[i].step + ": unit '" +
                            unit.name +
                            "' is scattered more than once; call prof.step() after each "
                            "micro-step");
  }
}

void arrange_units(const StepGradients& step, bool merge, Model& model, IterationTrace& trace) {
  const std::vector<std::size_t> places = forward_places(step.gradients);
  std::vector<std::size_t> unit_of_place(places.size(), 0);
  for (std::size_t u = 0; u < step.units.size(); ++u)
    for (const std::size_t gradient : step.units[u].gradients) unit_of_place[places[gradient]] = u;
  std::vector<std::vector<std::size_t>> members;  // places, of the units in forward order
  std::vector<std::size_t> units;                 // their numbers
  std::vector<std::size_t> order_of(step.units.size(), std::numeric_limits<std::size_t>::max());
  std::size_t home = 0;  // the last tensor that computes with the rest of its unit
  for (std::size_t place = 0; place < unit_of_place.size(); ++place) {
    const std::size_t unit = unit_of_place[place];
    const bool is_new = order_of[unit] == std::numeric_limits<std::size_t>::max();
    if (is_new) {
      order_of[unit] = units.size();
      units.push_back(unit);
      members.emplace_back();
    }
    members[order_of[unit]].push_back(place);
    TensorTime& its = trace.tensors[place];
    if (order_of[unit] + 1 == units.size()) {
      home = place;
    } else {
      TensorTime& before = trace.tensors[home];
      before.forward += its.forward;
      before.backward += its.backward;
      its.forward = its.backward = its.forward_launch = its.backward_launch = Seconds{0};
    }
  }
  Model arranged = model;
  IterationTrace times = trace;
  arranged.tensors.clear();
  times.tensors.clear();
  std::set<std::string> names;
  for (std::size_t u = 0; u < units.size(); ++u) {
    std::string name = step.units[units[u]].name;
    if (name.empty() || names.contains(name)) name = "unit-" + std::to_string(u + 1);
    names.insert(name);
    if (merge) {
      Joined forward, backward;
      for (const std::size_t place : members[u])
        forward.take(trace.tensors[place].forward, trace.tensors[place].forward_launch);
      for (std::size_t i = members[u].size(); i-- > 0;)
        backward.take(trace.tensors[members[u][i]].backward,
                      trace.tensors[members[u][i]].backward_launch);
      GradientTensor tensor = model.tensors[members[u].front()];
      tensor.layer = tensor.unit = name;
      tensor.tensor = name + ".parameters";
      tensor.elements = step.units[units[u]].elements;
      arranged.tensors.push_back(tensor);
      times.tensors.push_back(
          {tensor.tensor, forward.time, backward.time, forward.launch, backward.launch, 0});
      continue;
    }
    for (const std::size_t place : members[u]) {
      arranged.tensors.push_back(model.tensors[place]);
      arranged.tensors.back().unit = name;
      times.tensors.push_back(trace.tensors[place]);
    }
  }
  model = std::move(arranged);
  trace = std::move(times);
}

}  // namespace gradcast::kineto
