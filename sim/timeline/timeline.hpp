// A run as lanes of slices, in whole nanoseconds, as a trace viewer draws it.
#pragma once
#include <string>
#include <vector>

#include "sim/engine/engine.hpp"
#include "sim/plan/plan.hpp"
#include "sim/timeline/spans.hpp"

namespace gradcast {

enum class SlicePart {
  Step,     // a step of the plan, from when the rank began it or came to it
  Wait,     // a collective's: until every rank has come
  Active,   // the rest of it
  Exposed,  // part of Active: the rank computes nothing meanwhile
};

struct TimelineSlice {
  Span span;
  std::size_t step = 0;  // its index in the plan
  SlicePart part = SlicePart::Step;
};

/// Slices in order of their start, of equal starts the longer first. Each lies after the one before
/// it, or inside it.
struct TimelineLane {
  std::string name;  // "compute", "codec", "cycle", "network", "network 2"
  std::vector<TimelineSlice> slices{};
};

/// An arrow from the end of a step to the start of a collective that waited for it.
struct TimelineArrow {
  std::size_t from_lane = 0;
  std::size_t to_lane = 0;
  std::size_t from_step = 0;
  std::size_t to_step = 0;
};

/// The lanes of ranks that behave alike.
struct TimelineClass {
  std::vector<TimelineLane> lanes{};  // the same names in each class
  std::vector<TimelineArrow> arrows{};
  std::vector<Span> steps{};  // by step of the plan
};

struct Timeline {
  std::vector<TimelineClass> classes{};
  std::vector<std::size_t> class_of{};  // by rank
  std::vector<LinkLoad> links{};
  std::vector<std::string> notes{};  // notes for the reader
};

/// Slices of no length are left out, and so are lanes that no rank uses, except "compute". A rank
/// that is in several collectives at once has as many network lanes; each collective takes the
/// first free one. Throws std::logic_error if slices of a lane do not nest, or if the run never
/// ended.
Timeline make_timeline(const Plan& plan, const RunRecord& record);

}  // namespace gradcast
