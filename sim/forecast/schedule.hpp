// The schedule of a run: how it fuses its gradients and when it sends them. A person may choose it
// without buying anything. Whether compressing pays is asked of the fastest choice, not of any.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "sim/engine/engine.hpp"
#include "sim/forecast/estimates.hpp"
#include "sim/forecast/request.hpp"
#include "sim/inputs/data_files.hpp"
#include "sim/inputs/fusion.hpp"

namespace gradcast {

struct Schedule {
  Fusion fusion;
  bool overlap = false;
};

/// "merged", "ddp, overlapped".
std::string to_text(const Schedule& schedule);

Schedule schedule_of(const Request& request);
Request with_schedule(Request request, const Schedule& schedule);
Asked with_schedule(Asked asked, const Schedule& schedule);

/// A value of `--fusion` beside fusions: the fastest schedule of `schedules_of`.
inline constexpr std::string_view kBestFusion = "best";

/// The dense run that a compressor is held against.
enum class Against {
  Best,  // the fastest of `schedules_of`: what one would run without the compressor
  Same,  // by the compressor's own schedule
};

/// "best" or "same". Throws ValueError.
Against parse_against(std::string_view text);
std::string to_text(Against against);

/// The schedules that the request's software can run, each once: the request's own (unless it asks
/// for the best), merged, the stack's usual one, and, unless the stack never overlaps, DDP's
/// buckets and each tensor alone, both overlapped. Of a collective alone its own. Reads the stack,
/// where one is named. Throws as read_files does.
std::vector<Schedule> schedules_of(const Request& request, DataFiles& files);

/// The schedules of the fitted answer's software: both answers choose among the same.
std::vector<Schedule> schedules_of(const Request& request, const Estimates& estimates,
                                   DataFiles& files);

/// Gives the request its stack's sharding, unless somebody chose one.
void take_usual_sharding(Request& request, const UsualSchedule& usual);

/// "ddp-nccl" for "stack-ddp-nccl", and for itself.
std::string stack_label(const std::string& stack);

/// "ddp-nccl has no --sharding zero2; these stacks have it: ..." where the request's stack has not
/// what it asks for, else "". Throws as read_files does.
std::string missing_sharding(const Request& request, DataFiles& files);

/// The request with the usual schedule and collectives of its stack, where the request says nothing
/// of its own.
/// Throws as read_files does.
Request with_usual_schedule(Request request, DataFiles& files);

/// Whether one schedule is to be chosen over another: by the iterations, but not one whose software
/// was seen less (`outside_seen`: terms, comma-separated). It would win by what is not known of it.
bool better_choice(Seconds iteration, const std::string& outside_seen, Seconds other,
                   const std::string& other_outside_seen);

/// The request by the best of its schedules. Throws as make_scenario does, for the first one.
Request fastest(const Request& request, const Engine& engine, DataFiles& files);

}  // namespace gradcast
