#include "sim/inputs/iteration_trace.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "sim/base/csv.hpp"
#include "sim/base/limits.hpp"
#include "sim/base/text.hpp"

namespace gradcast {
namespace {

constexpr std::array kTraceColumns = {"tensor", "forward_seconds", "backward_seconds",
                                      // optional
                                      "forward_launch_seconds", "backward_launch_seconds",
                                      "backward_place"};
constexpr std::size_t kTraceRequired = 3;

template <class Parse>
auto comment(const TextFile& file, const char* key, Parse parse, const char* example) {
  const std::string text = comment_value(file, key);
  const std::string wanted = std::string("'# ") + key + ": " + example + "'";
  if (text.empty()) throw DataError(file.path.string(), 0, "lacks the comment line " + wanted);
  try {
    return parse(text);
  } catch (const ValueError& error) {
    throw DataError(file.path.string(), 0,
                    std::string("the comment line '# ") + key + ": " + text + "': " + error.what() +
                        "; write it like " + wanted);
  }
}

/// All places from 1 on, each once, or none at all.
void require_order(const CsvReader& rows, const IterationTrace& trace) {
  if (!trace.has_order()) return;
  std::vector<bool> taken(trace.tensors.size() + 1);
  for (const TensorTime& time : trace.tensors) {
    const auto place = static_cast<std::size_t>(time.backward_place);
    if (place < 1 || place >= taken.size() || taken[place])
      throw rows.failure("backward_place", "tensor '" + time.tensor + "' has place " +
                                               std::to_string(place) +
                                               "; each place from 1 to the number of tensors "
                                               "stands once");
    taken[place] = true;
  }
}

constexpr std::string_view kFused = ", fused";

/// "adam", "adamw", "momentum" or "sgd", or as traces/record_trace.py wrote it. Other optimizers
/// are not modelled.
std::optional<Optimizer> optimizer_named(std::string_view words) {
  const std::string text = in_lower_case(words);
  if (text == "adam" || text == "adamw") return Optimizer::Adam;
  if (text == "momentum" || text.starts_with("sgd, momentum 0.9")) return Optimizer::Momentum;
  if (text == "sgd") return Optimizer::Sgd;
  return std::nullopt;
}

}  // namespace

Seconds IterationTrace::forward() const {
  Seconds sum{0};
  for (const TensorTime& time : tensors) sum += time.forward;
  return sum;
}

Seconds IterationTrace::backward() const {
  Seconds sum{0};
  for (const TensorTime& time : tensors) sum += time.backward;
  return sum;
}

Seconds IterationTrace::iteration(int micro_steps) const {
  return micro_steps * (forward() + backward()) + update;
}

bool IterationTrace::has_order() const {
  return std::any_of(tensors.begin(), tensors.end(),
                     [](const TensorTime& time) { return time.backward_place != 0; });
}

bool IterationTrace::in_fp32() const {
  return activation_type ? *activation_type == NumberType::Fp32
                         : generation_named(device) == GpuGeneration::Volta;
}

bool IterationTrace::has_launches() const {
  return host > Seconds{0} || update_launch > Seconds{0} ||
         std::any_of(tensors.begin(), tensors.end(), [](const TensorTime& time) {
           return time.forward_launch > Seconds{0} || time.backward_launch > Seconds{0};
         });
}

Seconds IterationTrace::launch_of_micro_step(int micro_step) const {
  Seconds last{0};
  for (const TensorTime& time : tensors)
    last = std::max({last, time.forward_launch, time.backward_launch});
  return (micro_step - 1) * last;
}

Seconds IterationTrace::iteration_alone(double speed, int micro_steps) const {
  Seconds now{0};
  const auto work = [&](Seconds launch, Seconds time) {
    now = std::max(now, launch) + time / speed;
  };
  for (int micro_step = 1; micro_step <= micro_steps; ++micro_step) {
    const Seconds from = launch_of_micro_step(micro_step);
    for (const TensorTime& time : tensors) work(from + time.forward_launch, time.forward);
    for (auto time = tensors.rbegin(); time != tensors.rend(); ++time)
      work(from + time->backward_launch, time->backward);
  }
  const Seconds from = launch_of_micro_step(micro_steps);
  work(from + update_launch, update);
  return std::max(now, from + host);
}

IterationTrace load_iteration_trace(const TextFile& file) {
  IterationTrace trace;
  trace.name = file.path.string();
  trace.derived = comment_value(file, "evidence").starts_with("derived");
  trace.device = comment_value(file, "device");
  trace.batch = comment(file, "batch", parse_count, "128");
  const auto optional_comment = [&](const char* key, Seconds& time) {
    if (!comment_value(file, key).empty()) time = comment(file, key, parse_time, "1.5ms");
  };
  optional_comment("update", trace.update);
  optional_comment("update_launch", trace.update_launch);
  optional_comment("host", trace.host);
  if (!comment_value(file, "activations").empty())
    trace.activation_type = comment(file, "activations", parse_tensor_type, "bf16");
  std::string optimizer = comment_value(file, "optimizer");
  trace.fused = optimizer.ends_with(kFused);
  if (trace.fused) optimizer.resize(optimizer.size() - kFused.size());
  trace.optimizer = optimizer_named(optimizer);
  CsvReader rows(file, kTraceColumns, kTraceRequired);
  const auto launch = [&](const char* column) {
    return Seconds{rows.text(column).empty() ? 0 : rows.number(column, 0, kLongestSeconds)};
  };
  while (rows.next())
    trace.tensors.push_back({rows.word("tensor"),
                             Seconds{rows.number("forward_seconds", 0, kLongestSeconds)},
                             Seconds{rows.number("backward_seconds", 0, kLongestSeconds)},
                             launch("forward_launch_seconds"), launch("backward_launch_seconds"),
                             rows.text("backward_place").empty()
                                 ? 0
                                 : static_cast<int>(rows.integer("backward_place", 1, INT32_MAX))});
  require_order(rows, trace);
  if (trace.iteration() <= Seconds{0}) throw rows.failure("the trace has no time in it");
  if (trace.iteration() < Seconds{kShortestMeasuredSeconds})
    throw rows.failure("all times of the trace are " + number_to_text(trace.iteration().count()) +
                       " s together; an iteration takes at least " +
                       number_to_text(kShortestMeasuredSeconds) + " s");
  return trace;
}

IterationTrace trace_by_flops(const Model& model) {
  const double all = model.forward_flops();
  if (!(all > 0)) throw ValueError("model '" + model.name + "' says no forward_flops");
  IterationTrace trace;
  trace.name = model.name;
  trace.batch = 1;
  trace.derived = true;
  const std::vector<GradientTensor>& tensors = model.tensors;
  const auto trained = std::ranges::find(tensors, false, &GradientTensor::frozen);
  const auto first_trained = static_cast<std::size_t>(trained - tensors.begin());
  // Backward multiplies twice: for the gradients of the weights, which a frozen tensor has not, and
  // of the layer's input, which nothing before the first trained tensor needs.
  const auto backward_of = [&](std::size_t i) {
    if (i < first_trained) return 0.0;
    return (tensors[i].frozen ? 1 : 2) * tensors[i].forward_flops;
  };
  double both = all;
  for (std::size_t i = 0; i < tensors.size(); ++i) both += backward_of(i);
  double layer = 0;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    layer += backward_of(i);
    const bool last = i + 1 == tensors.size() || tensors[i + 1].layer != tensors[i].layer;
    trace.tensors.push_back({tensors[i].tensor, Seconds{tensors[i].forward_flops / both},
                             Seconds{last ? layer / both : 0}});
    if (last) layer = 0;
  }
  return trace;
}

Seconds rounded_to_nanosecond(Seconds time) {
  return Seconds{std::round(time.count() * 1e9) / 1e9};
}

std::string iteration_trace_csv(const IterationTrace& trace,
                                const std::vector<std::string>& provenance) {
  const auto seconds = [](Seconds time) { return number_to_text(time.count()); };
  const bool launches = trace.has_launches();
  std::vector<std::string> head = {"device: " + trace.device,
                                   "batch: " + std::to_string(trace.batch),
                                   "update: " + seconds(trace.update) + "s"};
  if (launches) {
    head.push_back("update_launch: " + seconds(trace.update_launch) + "s");
    head.push_back("host: " + seconds(trace.host) + "s");
  }
  if (trace.activation_type)
    head.push_back("activations: " + std::string(to_text(*trace.activation_type)));
  if (trace.optimizer)
    head.push_back("optimizer: " + to_text(*trace.optimizer) +
                   std::string(trace.fused ? kFused : ""));
  const bool order = trace.has_order();
  std::vector<std::string> columns(kTraceColumns.begin(), kTraceColumns.begin() + kTraceRequired);
  if (launches) columns.insert(columns.end(), {kTraceColumns[3], kTraceColumns[4]});
  if (order) columns.emplace_back(kTraceColumns[5]);
  std::string text = csv_comments(head) + csv_comments(provenance) + csv_line(columns);
  for (const TensorTime& time : trace.tensors) {
    std::vector<std::string> row = {time.tensor, seconds(time.forward), seconds(time.backward)};
    if (launches)
      row.insert(row.end(), {seconds(time.forward_launch), seconds(time.backward_launch)});
    if (order) row.push_back(std::to_string(time.backward_place));
    text += csv_line(row);
  }
  return text;
}

void require_same_tensors(const Model& model, const IterationTrace& trace) {
  const auto refuse = [&](const std::string& what) {
    return DataError(trace.name, 0, "is not a trace of model '" + model.name + "': " + what);
  };
  if (model.tensors.size() != trace.tensors.size())
    throw refuse(std::to_string(trace.tensors.size()) + " tensors, the model has " +
                 std::to_string(model.tensors.size()));
  for (std::size_t i = 0; i < model.tensors.size(); ++i)
    if (model.tensors[i].tensor != trace.tensors[i].tensor)
      throw refuse("tensor " + std::to_string(i + 1) + " is '" + trace.tensors[i].tensor +
                   "', the model's is '" + model.tensors[i].tensor + "'");
}

void put_in_backward_order(Model& model, IterationTrace& trace) {
  if (!trace.has_order()) return;
  const std::size_t count = trace.tensors.size();
  std::vector<GradientTensor> tensors(count);
  std::vector<TensorTime> times(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t to = count - static_cast<std::size_t>(trace.tensors[i].backward_place);
    tensors[to] = std::move(model.tensors[i]);
    times[to] = std::move(trace.tensors[i]);
  }
  model.tensors = std::move(tensors);
  trace.tensors = std::move(times);
}

IterationTrace times_as_long(IterationTrace trace, double factor) {
  for (TensorTime& time : trace.tensors) {
    time.forward *= factor;
    time.backward *= factor;
    time.forward_launch *= factor;
    time.backward_launch *= factor;
  }
  trace.update *= factor;
  trace.update_launch *= factor;
  trace.host *= factor;
  return trace;
}

IterationTrace scaled_to(IterationTrace trace, Seconds iteration, int micro_steps) {
  const double factor = iteration / trace.iteration_alone(1, micro_steps);
  trace = times_as_long(std::move(trace), factor);
  trace.derived = false;  // somebody says how long it takes
  trace.stated = true;
  return trace;
}

IterationTrace with_optimizer(IterationTrace trace, Optimizer optimizer) {
  if (!trace.optimizer) return trace;
  trace.update *= static_cast<double>(update_bytes(optimizer, trace.fused)) /
                  update_bytes(*trace.optimizer, trace.fused);
  trace.optimizer = optimizer;
  return trace;
}

IterationTrace with_batch(IterationTrace trace, int batch) {
  const double factor = static_cast<double>(batch) / trace.batch;
  for (TensorTime& time : trace.tensors) {
    time.forward *= factor;
    time.backward *= factor;
  }
  trace.batch = batch;
  return trace;
}

}  // namespace gradcast
