#include "sim/inputs/iteration_trace.hpp"

#include <array>

#include "sim/base/csv.hpp"
#include "sim/base/limits.hpp"

namespace gradcast {
namespace {

constexpr std::array kTraceColumns = {"tensor", "forward_seconds", "backward_seconds"};

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

IterationTrace load_iteration_trace(const TextFile& file) {
  IterationTrace trace;
  trace.name = file.path.string();
  trace.device = comment_value(file, "device");
  trace.batch = comment(file, "batch", parse_count, "128");
  if (!comment_value(file, "update").empty())
    trace.update = comment(file, "update", parse_time, "1.5ms");
  CsvReader rows(file, kTraceColumns);
  while (rows.next())
    trace.tensors.push_back({rows.word("tensor"),
                             Seconds{rows.number("forward_seconds", 0, kLongestSeconds)},
                             Seconds{rows.number("backward_seconds", 0, kLongestSeconds)}});
  if (trace.iteration() <= Seconds{0}) throw rows.failure("the trace has no time in it");
  if (trace.iteration() < Seconds{kShortestMeasuredSeconds})
    throw rows.failure("all times of the trace are " + number_to_text(trace.iteration().count()) +
                       " s together; an iteration takes at least " +
                       number_to_text(kShortestMeasuredSeconds) + " s");
  return trace;
}

std::string iteration_trace_csv(const IterationTrace& trace,
                                const std::vector<std::string>& provenance) {
  std::string text =
      csv_comments({"device: " + trace.device, "batch: " + std::to_string(trace.batch),
                    "update: " + number_to_text(trace.update.count()) + "s"}) +
      csv_comments(provenance) + csv_line({kTraceColumns.begin(), kTraceColumns.end()});
  for (const TensorTime& time : trace.tensors)
    text += csv_line(
        {time.tensor, number_to_text(time.forward.count()), number_to_text(time.backward.count())});
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

IterationTrace scaled_to(IterationTrace trace, Seconds iteration, int micro_steps) {
  const double factor = iteration / trace.iteration(micro_steps);
  for (TensorTime& time : trace.tensors) {
    time.forward *= factor;
    time.backward *= factor;
  }
  trace.update *= factor;
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
