#include "sim/forecast/schedule.hpp"

#include <algorithm>

#include "sim/base/error.hpp"
#include "sim/base/text.hpp"
#include "sim/forecast/evaluation.hpp"

namespace gradcast {

std::string to_text(const Schedule& schedule) {
  return to_text(schedule.fusion) + (schedule.overlap ? ", overlapped" : "");
}

Schedule schedule_of(const Request& request) { return {request.fusion, request.overlap}; }

Request with_schedule(Request request, const Schedule& schedule) {
  request.fusion = schedule.fusion;
  request.overlap = schedule.overlap;
  request.fusion_given = request.overlap_given = true;
  request.best_schedule = false;
  return request;
}

Asked with_schedule(Asked asked, const Schedule& schedule) {
  asked.request = with_schedule(std::move(asked.request), schedule);
  return asked;
}

Against parse_against(std::string_view text) {
  if (text == "best") return Against::Best;
  if (text == "same") return Against::Same;
  throw ValueError("'" + std::string(text) + "' is not 'best' or 'same'");
}

std::string to_text(Against against) { return against == Against::Best ? "best" : "same"; }

std::vector<Schedule> schedules_of(const Request& request, DataFiles& files) {
  if (request.payload) return {schedule_of(request)};
  std::vector<Schedule> all;
  const auto add = [&](const Schedule& schedule) {
    const bool known = std::any_of(all.begin(), all.end(), [&](const Schedule& other) {
      return to_text(other) == to_text(schedule);
    });
    if (!known) all.push_back(schedule);
  };
  if (request.sharding.kind == Sharding::Fsdp) {  // its units are its buckets
    if (!request.best_schedule) add(schedule_of(request));
    add({request.fusion, true});
    return all;
  }
  std::optional<UsualSchedule> usual;
  if (!request.stack.empty()) usual = stack_of(request, files)->schedule;
  const bool overlaps = !usual || usual->overlap != UsualOverlap::Never;
  if (!request.best_schedule) add(schedule_of(request));
  add({parse_fusion("merged"), false});
  if (usual) add({usual->fusion, overlaps});
  if (overlaps)
    for (const char* fusion : {"ddp", "layer"}) add({parse_fusion(fusion), true});
  return all;
}

std::vector<Schedule> schedules_of(const Request& request, const Estimates& estimates,
                                   DataFiles& files) {
  Request with_software = request;
  if (estimates.fitted) with_software.stack = estimates.fitted->request.stack;
  return schedules_of(with_software, files);
}

bool better_choice(Seconds iteration, const std::string& outside_seen, Seconds other,
                   const std::string& other_outside_seen) {
  const auto terms = [](const std::string& list) {
    return list.empty() ? 0 : 1 + std::count(list.begin(), list.end(), ',');
  };
  const auto unknown = terms(outside_seen);
  const auto other_unknown = terms(other_outside_seen);
  return unknown != other_unknown ? unknown < other_unknown : iteration < other;
}

Request fastest(const Request& request, const Engine& engine, DataFiles& files) {
  std::optional<Request> best;
  Evaluation its;
  for (const Schedule& schedule : schedules_of(request, files)) {
    const Request one = with_schedule(request, schedule);
    const Evaluation evaluation = evaluate(Asked{one}, engine, files);
    const bool answered = evaluation.problem.empty();
    if (best && (!answered || (its.problem.empty() &&
                               !better_choice(evaluation.result.iteration, evaluation.outside_seen,
                                              its.result.iteration, its.outside_seen))))
      continue;
    best = one;
    its = evaluation;
  }
  return *best;
}

void take_usual_sharding(Request& request, const UsualSchedule& usual) {
  if (request.sharding_given || request.sharding.kind != Sharding::None || !usual.sharding) return;
  request.sharding.kind = usual.sharding->kind;
  request.sharding.hybrid = usual.sharding->hybrid;
}

std::string stack_label(const std::string& stack) {
  return stack.starts_with(kStacks.prefix) ? stack.substr(kStacks.prefix.size()) : stack;
}

std::string missing_sharding(const Request& request, DataFiles& files) {
  if (request.stack.empty() || request.payload) return "";
  const auto lacks = [&](const std::optional<UsualSchedule>& usual) {
    return usual && !usual->has(request.sharding);
  };
  if (!lacks(stack_of(request, files)->schedule)) return "";
  std::vector<std::string> others;
  DataFiles beside = files.beside();  // no answer rests on them
  for (const std::string& name : beside.names(kStacks)) {
    if (is_for_judging(name)) continue;
    const auto stack = beside.parsed(beside.read(kStacks, name), load_stack);
    if (stack->schedule && !stack->schedule->shardings.empty() && !lacks(stack->schedule))
      others.push_back(stack_label(name));
  }
  return stack_label(request.stack) + " has no --sharding " + to_text(request.sharding) +
         "; these stacks have it: " + join(others) + " (--stack)";
}

Request with_usual_schedule(Request request, DataFiles& files) {
  if (request.stack.empty()) return request;
  const std::optional<UsualSchedule> usual = stack_of(request, files)->schedule;
  if (!usual) return request;
  if (request.collective.empty()) request.collective = usual->collective;
  if (!request.broadcast_buffers) request.broadcast_buffers = usual->buffers_broadcast;
  if (!request.network_streams && request.collective == usual->collective)
    request.network_streams = usual->network_streams;
  if (request.payload) return request;
  take_usual_sharding(request, *usual);
  if (request.best_schedule) return request;
  if (!request.fusion_given) request.fusion = usual->fusion;
  if (!request.overlap_given) request.overlap = usual->overlap == UsualOverlap::Yes;
  return request;
}

}  // namespace gradcast
