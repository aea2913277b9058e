// The plan of a sweep: lists of values for flags, and every combination of them.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/limits.hpp"
#include "sim/forecast/request.hpp"
#include "sim/forecast/schedule.hpp"
#include "sim/inputs/data_files.hpp"
#include "sim/options/flags.hpp"

namespace gradcast {

/// One flag of `simulate`, and the values it takes.
struct SweepAxis {
  std::string flag;  // "nic-bandwidth"
  std::vector<std::string> values;
};

/// Flags and values of one combination, in the order of the axes.
using SweepSettings = std::vector<std::pair<std::string, std::string>>;

struct SweepPlan {
  /// The last axes vary fastest: compressor and density, whose points share a dense run.
  std::vector<SweepAxis> axes;
  std::string engine;
  std::string software;                // of the answers; "none": as each point's --stack has it
  Against against = Against::Best;     // the dense run that decides whether compressing pays
  std::vector<std::string> arguments;  // as results record them
  std::vector<InputFile> inputs;       // read to make the plan: its file, what `all` looked at

  std::int64_t points() const;
  SweepSettings point(std::int64_t number) const;
};

/// The flags that may be lists: those of a request, and --scale-costs-to and --costs-of.
void add_sweep_axes(Flags& flags);

/// The flags that may be lists, in the order of a plan's axes.
const std::vector<std::string>& axis_names();

/// Makes the plan from the flags that were given and, if a file is named, from its keys; flags
/// override keys. `all` stands for all models with such a trace, all compressors in the costs (and
/// dense), all clusters or all collectives. Throws UsageError or DataError (with the file's line)
/// for an invalid plan, or one of more than kMostPoints.
SweepPlan read_sweep_plan(const Flags& flags, const std::string& plan_file, DataFiles& files);

/// The request of one point. Throws UsageError.
Request request_of(const SweepSettings& settings, DataFiles& files);

}  // namespace gradcast
