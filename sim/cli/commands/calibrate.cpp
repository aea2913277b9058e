// `gradcast calibrate`: times the compressors on this machine, into a cost table.
#include <algorithm>
#include <ctime>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <set>

#include "sim/answers/version.hpp"
#include "sim/base/interruption.hpp"
#include "sim/base/progress.hpp"
#include "sim/base/text.hpp"
#include "sim/calibration/asked.hpp"
#include "sim/calibration/budget.hpp"
#include "sim/calibration/cost_file.hpp"
#include "sim/calibration/recorded.hpp"
#include "sim/calibration/session.hpp"
#include "sim/calibration/tables.hpp"

namespace gradcast::commands {
namespace {

constexpr const char* kNothingToMeasure =
    "nothing of what was asked for can be measured on this machine";

std::string now_utc() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

std::filesystem::path output_of(const Flags& flags, const BenchDevice& device) {
  if (flags.given("output")) return flags.written("output");
  const std::string name = "cost-" + device.slug + ".csv";
  std::error_code ignored;
  return std::filesystem::is_directory("traces", ignored) ? "traces/" + name : name;
}

std::vector<Provenance> provenance_of(const Session& session) {
  const auto known = [](const std::string& text) { return text.empty() ? "none" : text; };
  return {
      {"", "Measured by `gradcast calibrate`: medians and 95th percentiles of cold-cache samples."},
      {"",
       "  Encode is timed as training calls it: gradient and residual drift from call to call, so"},
      {"",
       "  that what an encoder on a GPU keeps of the last call is of another gradient. Where "
       "nothing"},
      {"", "  is kept (the CPU, PyTorch) each call has the same input."},
      {"device", known(session.device.name), true},
      {"driver", known(session.device.driver), true},
      {"toolkit", known(session.device.toolkit), true},
      {"clocks", known(session.device.clocks)},
      {"gradcast", program_version(), true},
      {"seed", std::to_string(session.asked.points.seed), true},
      {"date", now_utc()}};
}

bool is_done(const CostFile& file, const CalibrationPoint& point) {
  const std::vector<CostRow> rows = rows_of(point, nullptr);
  return std::all_of(rows.begin(), rows.end(), [&](const CostRow& row) { return file.has(row); });
}

[[noreturn]] void interrupted(const std::string& what) {
  throw Error(ExitCode::Interrupted, "interrupted: " + what);
}

/// Tensor sets of models and sweep; without either, those of the recorded vectors.
std::vector<TensorSet> sets_asked(const CalibrationAsked& asked,
                                  const std::vector<TensorSet>& of_models) {
  if (asked.points.own_sizes) return own_sizes(asked.recorded);
  require_long_enough(asked.recorded, of_models);
  return merged_sets(of_models, asked.sweep ? sweep_sets() : std::vector<TensorSet>{});
}

Seconds work_of(const std::vector<CalibrationPoint>& points, const Meter& meter) {
  Seconds work{0};
  for (const CalibrationPoint& point : points) work += Seconds{meter.work(point)};
  return work;
}

/// The times of a point's rows in the file: of encode, then of each decode.
std::vector<Seconds> times_in(const std::map<std::string, CostRow>& rows,
                              const CalibrationPoint& point) {
  std::vector<Seconds> times;
  for (const CostRow& wanted : rows_of(point, nullptr)) {
    const auto found = rows.find(key_of(wanted));
    if (found == rows.end()) return {};
    if (times.empty()) times.push_back(found->second.encode);
    times.push_back(found->second.decode);
  }
  return times;
}

/// The order of all points, with what is in the file. Those that are neither there nor among
/// `missing` cannot be measured.
BudgetOrder order_of(const std::vector<CalibrationPoint>& all,
                     const std::vector<CalibrationPoint>& missing, const CostFile& file,
                     const Meter& meter, Seconds budget) {
  std::vector<Seconds> work;
  for (const CalibrationPoint& point : all) work.emplace_back(meter.work(point));
  BudgetOrder order(all, work, budget);
  std::map<std::string, CostRow> rows;
  for (const CostRow& row : file.rows()) rows.emplace(key_of(row), row);
  std::set<std::string> measurable;
  for (const CalibrationPoint& point : missing)
    measurable.insert(key_of(rows_of(point, nullptr).at(0)));
  for (std::size_t i = 0; i < all.size(); ++i)
    if (const std::vector<Seconds> times = times_in(rows, all[i]); !times.empty())
      order.measured(i, times);
    else if (!measurable.contains(key_of(rows_of(all[i], nullptr).at(0))))
      order.left_out(i);
  return order;
}

int write_costs(Session& session) {
  PointsAsked wanted = session.asked.points;
  wanted.sets = sets_asked(session.asked, sets_of_models(session.asked.models));
  wanted.shapes = shapes_of_models(session.asked.models);
  const std::vector<CalibrationPoint> all = session.points(wanted);
  if (all.empty()) throw MissingError(kNothingToMeasure);
  const auto& types = wanted.input_types;
  const bool narrow = std::any_of(types.begin(), types.end(),
                                  [](ValueType type) { return type != ValueType::Fp32; });
  CostFile file(output_of(session.flags, session.device), provenance_of(session), wanted.workers,
                narrow);
  const std::string name = file.path().string();
  for (const RecordedFile& recorded : session.asked.recorded)
    file.require({recorded.input->name, described(recorded), true});
  const std::string use = name + "; use it with `--costs " + name + "`";

  std::vector<CalibrationPoint> missing;
  std::copy_if(all.begin(), all.end(), std::back_inserter(missing),
               [&](const CalibrationPoint& point) { return !is_done(file, point); });
  const auto progress = [&] {
    const auto done = std::count_if(all.begin(), all.end(), [&](const CalibrationPoint& point) {
      return is_done(file, point);
    });
    return std::to_string(done) + " of " + std::to_string(all.size()) + " points";
  };
  try {
    if (const std::string torch = session.start_torch(missing); !torch.empty())
      file.require({"torch", torch, true});
    if (missing.empty()) {
      session.note("nothing to do: " + progress() + " are in " + use);
    } else {
      const Seconds work = work_of(missing, session.meter);
      const std::optional<Seconds> budget = session.asked.budget;
      const bool limited = budget && work > *budget;
      session.note(progress() + " are in " + name + "; measuring " +
                   (limited ? "for " + about(*budget) : std::to_string(missing.size())) + " on " +
                   session.device.name +
                   (limited ? " those that interpolation needs most; all take about " +
                                  about(work) + " (--budget none)"
                            : ", about " + about(work)));
      file.tell_command(join(session.flags.arguments(), " "));
      const auto note = [&](const std::string& line) { session.note(line); };
      BudgetOrder order = order_of(all, missing, file, session.meter, budget.value_or(Seconds{1}));
      const auto keep = [&](const CalibrationPoint& point, const BenchResult& result) {
        file.tell_not_reached(limited ? order.not_reached() : "");
        file.add(rows_of(point, &result));
      };
      if (limited)
        measure_within(*budget, all, order, session.meter, session.flags.quiet(), keep, note);
      else
        measure_all(missing, session.meter, session.flags.quiet(), keep, note);
      session.note_discarded();
      const std::string open = limited ? order.not_reached() : "";
      session.note(progress() + " are in " + use);
      if (!open.empty())
        session.note("not reached: " + open + "; the same command goes on from there");
    }
  } catch (const BenchInterrupted&) {
    interrupted(progress() + " are in " + name + "; the same command continues from there");
  }
  session.deliver(summary_of(file, all));
  return 0;
}

/// The results of a view, up to the end or to ctrl-C.
struct Measured {
  std::vector<RooflineEntry> entries;
  std::size_t points = 0;  // points to be measured
  bool interrupted = false;
};

/// `beside` is called for each point before its result is kept. Nothing is kept in a file.
Measured measure_entries(Session& session, PointsAsked wanted,
                         const std::function<void(const CalibrationPoint&)>& beside) {
  wanted.workers.clear();  // no decode
  std::vector<CalibrationPoint> points = session.points(wanted);
  Measured measured;
  try {
    session.start_torch(points);
    measured.points = points.size();
    measure_all(
        points, session.meter, session.flags.quiet(),
        [&](const CalibrationPoint& point, const BenchResult& result) {
          beside(point);
          measured.entries.push_back({point, result});
        },
        [&](const std::string& line) { session.note(line); });
  } catch (const BenchInterrupted&) {
    measured.interrupted = true;
  }
  if (measured.entries.empty() && measured.interrupted) interrupted("nothing was measured");
  if (measured.entries.empty()) throw MissingError(kNothingToMeasure);
  session.note_discarded();
  return measured;
}

int deliver_view(const Session& session, const Measured& measured, const Answer& answer) {
  session.deliver(answer);
  if (measured.interrupted)
    interrupted("the table holds " + std::to_string(measured.entries.size()) + " of " +
                std::to_string(measured.points) +
                " points; the next run starts from the beginning");
  return 0;
}

int print_roofline(Session& session) {
  PointsAsked wanted = session.asked.points;
  wanted.sets = sets_asked(session.asked, whole_models(session.asked.models));
  wanted.shapes = shapes_of_models(session.asked.models);
  wanted.warm_and_cold = true;
  std::map<std::int64_t, BenchTiming> ceilings;
  const Measured measured = measure_entries(session, wanted, [&](const CalibrationPoint& point) {
    if (!ceilings.contains(point.elements()))
      ceilings[point.elements()] = session.meter.ceiling(point.elements());
  });
  return deliver_view(session, measured, roofline_answer(measured.entries, ceilings));
}

std::vector<TensorSet> distinct_tensors(const Model& model) {
  std::vector<TensorSet> sets;
  for (const GradientTensor& tensor : model.tensors) sets.push_back({tensor.elements});
  return merged_sets(sets, {});
}

std::vector<PerLayerColumn> columns_of(const std::vector<RooflineEntry>& entries) {
  std::vector<PerLayerColumn> columns;
  for (const RooflineEntry& entry : entries) {
    PerLayerColumn column{entry.point.call.compressor,
                          mode_text(entry.point.call.mode),
                          entry.point.call.implementation,
                          {},
                          entry.point.call.parameter};
    auto found = std::find_if(columns.begin(), columns.end(), [&](const PerLayerColumn& known) {
      return known.title() == column.title();
    });
    if (found == columns.end()) found = columns.insert(columns.end(), std::move(column));
    found->encode[entry.point.elements()] = Seconds{entry.result.encode.median_seconds};
  }
  return columns;
}

int print_per_layer(Session& session) {
  const Model& model = session.asked.models[0];
  PointsAsked wanted = session.asked.points;
  if (wanted.densities.size() != 1 || wanted.inputs.size() + wanted.recorded.size() != 1)
    throw UsageError("--per-layer shows one model at one density and one distribution");
  std::string trace_name = session.flags.text("trace");
  if (trace_name.empty()) trace_name = "iteration-" + model.name + "-v100";
  const IterationTrace trace = session.flags.value("trace", [&](const std::string&) {
    return load_iteration_trace(session.files.read(kIterationTraces, trace_name));
  });
  require_same_tensors(model, trace);
  wanted.sets = distinct_tensors(model);
  require_long_enough(session.asked.recorded, wanted.sets);
  wanted.code_only = true;
  const Measured measured = measure_entries(session, wanted, [](const CalibrationPoint&) {});
  if (trace.device != session.device.name)
    session.note("encode was timed on " + session.device.name + ", backward (" + trace_name +
                 ") is of " + trace.device);
  return deliver_view(session, measured,
                      per_layer_answer(model, trace, columns_of(measured.entries)));
}

}  // namespace

int calibrate(int argc, const char* const* argv) {
  Flags flags = calibration_flags();
  if (!flags.parse(argc, argv)) return 0;
  const Interruption interruption;
  DataFiles files = DataFiles::standard();
  const CalibrationAsked asked = read_calibration_asked(flags, files);
  const std::unique_ptr<Bench> bench = open_device(asked.device);
  Session session(flags, files, asked, *bench);
  if (flags.given("per-layer")) return print_per_layer(session);
  if (flags.given("roofline")) return print_roofline(session);
  return write_costs(session);
}

}  // namespace gradcast::commands
