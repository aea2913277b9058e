// The times of one iteration on one GPU, tensor by tensor.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "sim/base/units.hpp"
#include "sim/inputs/model.hpp"
#include "sim/inputs/sharding.hpp"

namespace gradcast {

/// The compute time of the layer that a gradient tensor belongs to; parameter-free operators are
/// folded into the tensor before them. The first tensor of a layer has the layer's forward time.
/// The last one, which backward reaches first, has its backward time, because no tensor is ready
/// before its layer is done.
struct TensorTime {
  std::string tensor;
  Seconds forward{0};
  Seconds backward{0};
  /// Dates of their launch by the host, since the iteration began: neither begins earlier.
  Seconds forward_launch{0};
  Seconds backward_launch{0};
  /// 1 for the gradient that is ready first, where that was measured; 0: the last in the model is.
  int backward_place = 0;
};

struct IterationTrace {
  std::string name;                 // the file's path, for messages
  std::string device;               // "V100-PCIE-32GB"
  int batch = 0;                    // images per GPU
  Seconds update{0};                // the optimizer's step
  std::vector<TensorTime> tensors;  // forward order, as the model's
  Seconds update_launch{0};         // likewise, of the update
  Seconds host{0};                  // ... and of the next iteration: this one is no shorter
  bool derived = false;             // from operations: nobody measured how long they take
  bool stated = false;              // scaled to what somebody says of the job's own GPU
  /// Type in which it computes, and so of what forward keeps. Not given: that of the parameters.
  std::optional<NumberType> activation_type{};
  std::optional<Optimizer> optimizer{};  // whose step the update is, where the file says so
  bool fused = false;                    // that step is one kernel

  Seconds forward() const;
  Seconds backward() const;
  /// forward + backward + update. With several micro-steps: forward and backward of each, and one
  /// update.
  Seconds iteration(int micro_steps = 1) const;

  /// Whether the times are of fp32: a V100's are where it does not say another type.
  bool in_fp32() const;
  /// Whether the trace says when the host launches what.
  bool has_launches() const;
  /// Whether it says in which order gradients are ready.
  bool has_order() const;
  /// The host launches the micro-steps one after another: so much later each.
  Seconds launch_of_micro_step(int micro_step) const;  // from 1
  /// An iteration of a GPU of that speed alone, which also waits for its host.
  Seconds iteration_alone(double speed, int micro_steps = 1) const;
};

/// Reads `traces/iteration-<model>-<device>.csv`: tensor,forward_seconds,backward_seconds, with
/// `# device:`, `# batch:` and (optional) `# update:`, `# optimizer:` and `# activations:` comment
/// lines. The column backward_place is there if gradients are ready in another order than the
/// reverse of forward. A run that waits for its host also has
/// forward_launch_seconds,backward_launch_seconds,
/// `# update_launch:` and
/// `# host:`. Throws DataError.
IterationTrace load_iteration_trace(const TextFile& file);

/// An iteration of one sample that takes a second, shared out by the layers' FLOPs: a third is
/// forward where nothing is frozen, and there is no update. Throws ValueError where the model says
/// no FLOPs.
IterationTrace trace_by_flops(const Model& model);

/// A time with the digits that such a file has, so that it stays readable.
Seconds rounded_to_nanosecond(Seconds time);

/// The text of such a file; `provenance` becomes further comment lines.
std::string iteration_trace_csv(const IterationTrace& trace,
                                const std::vector<std::string>& provenance);

/// Throws DataError unless the trace has the model's tensors, by name and in order.
void require_same_tensors(const Model& model, const IterationTrace& trace);

/// Puts model and trace into the order in which gradients are ready, the first of them last: as if
/// forward were the reverse of backward. Nothing changes where the trace has no order.
void put_in_backward_order(Model& model, IterationTrace& trace);

/// Every time of the trace, so many times as long.
IterationTrace times_as_long(IterationTrace trace, double factor);

/// The trace scaled to another total time, that of an iteration of so many micro-steps: every time
/// is multiplied by iteration / trace.iteration_alone(1, micro_steps).
IterationTrace scaled_to(IterationTrace trace, Seconds iteration, int micro_steps = 1);

/// The trace with another optimizer's step: its update scaled by `update_bytes`. Nothing changes
/// where the trace does not say whose step it has.
IterationTrace with_optimizer(IterationTrace trace, Optimizer optimizer);

/// The trace for another batch: forward and backward scale with the images; the update and what the
/// host takes stay as they are.
IterationTrace with_batch(IterationTrace trace, int batch);

}  // namespace gradcast
