#include "sim/forecast/training.hpp"

#include "sim/base/error.hpp"
#include "sim/plan/recomputation.hpp"

namespace gradcast {
namespace {

/// Throws ValueError for a run that no kind of sharding allows.
void require_shardable(const Request& request, const Scenario& scenario) {
  const std::string kind = to_text(request.sharding);
  if (request.payload)
    throw ValueError("a collective alone has no parameters to shard: leave sharding out");
  if (request.queue == Queue::Priority)
    throw ValueError("the priority queue is for whole gradients: leave it or sharding '" + kind +
                     "' out");
  if (request.fusion.kind == Fusion::Kind::MgWfbp || request.fusion.kind == Fusion::Kind::Omgs)
    throw ValueError("fusion '" + to_text(request.fusion) +
                     "' plans all-reduces, and with sharding '" + kind +
                     "' there are others: use a bucket size, or ddp");
  if (scenario.collective != nullptr && scenario.collective->before != nullptr)
    throw ValueError("collective '" + request.collective +
                     "' shards gradients by itself: leave it or sharding '" + kind + "' out");
  require_compressible(request, scenario);
}

/// Throws ValueError if the run goes through layers in forward order, or launches them in it: the
/// trace has another order.
void require_orderable(const Request& request, const Scenario& scenario) {
  require_same_tensors(scenario.model, scenario.trace);
  const std::string has_order = "the trace has an order of its own for gradients (backward_place)";
  if (request.queue == Queue::Priority)
    throw ValueError(has_order + ", and the priority queue is for the reverse of forward");
  if (request.sharding.kind == Sharding::Fsdp)
    throw ValueError(has_order +
                     ", and units go through layers in forward order: leave sharding '" +
                     to_text(request.sharding) + "' out");
  if (request.recompute != Recompute::None)
    throw ValueError(
        has_order + ", and recomputation goes through units in forward order: leave recompute out");
  if (scenario.trace->has_launches())
    throw ValueError(has_order + " and dates of launches: a forecast takes one of the two");
}

}  // namespace

void require_compressible(const Request& request, const Scenario& scenario) {
  if (scenario.sharding.kind == Sharding::None || !scenario.compresses() || scenario.replicas() > 1)
    return;
  const std::string kind = to_text(request.sharding);
  const std::string whose = request.sharding_given || request.stack.empty()
                                ? ""
                                : " (which stack '" + request.stack + "' has by itself)";
  if (request.sharding.kind != Sharding::Fsdp)
    throw ValueError("compressor '" + request.compressor + "' beside sharding '" + kind + "'" +
                     whose +
                     " over all ranks is not forecast: use hsdp on several nodes, which compresses "
                     "across replicas, or none");
  throw ValueError("with sharding '" + kind + "'" + whose +
                   " over all ranks gradients are reduce-scattered, and nothing is left for "
                   "compressor '" +
                   request.compressor +
                   "': use hsdp on several nodes (or a shard-group), which compresses across "
                   "replicas");
}

void set_training(const Request& request, Scenario& scenario) {
  if (scenario.trace->has_order()) {
    require_orderable(request, scenario);
    put_in_backward_order(scenario.model.change(), scenario.trace.change());
  }
  Precision precision = request.precision;
  if (!precision.activation && !precision.parameter)
    precision.activation = scenario.trace->activation_type;
  if (precision != Precision{}) set_types(scenario.model.change(), precision);
  if (request.recompute != Recompute::None) {
    if (request.payload)
      throw ValueError("a collective alone recomputes nothing: leave recompute out");
    require_same_tensors(scenario.model, scenario.trace);
    scenario.trace = with_recomputation(scenario.trace, scenario.model);
  }
  if (scenario.synchronises_every() && scenario.accumulation > 1 &&
      (request.queue == Queue::Priority || request.fusion.needs_times()))
    throw ValueError(
        "gradients are sent in every micro-step only first come, first served and in buckets that "
        "depend on no times: leave queue and fusion '" +
        to_text(request.fusion) + "' out, or synchronise the last only");
  if (request.sharding.kind != Sharding::None) require_shardable(request, scenario);
}

}  // namespace gradcast
