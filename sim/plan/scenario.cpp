#include "sim/plan/scenario.hpp"

#include "sim/base/error.hpp"
#include "sim/inputs/compressor_words.hpp"

namespace gradcast {

Queue parse_queue(std::string_view text) {
  if (text == "fifo") return Queue::Fifo;
  if (text == "priority") return Queue::Priority;
  throw ValueError("'" + std::string(text) + "' is not 'fifo' or 'priority'");
}

std::string to_text(Queue queue) { return queue == Queue::Fifo ? "fifo" : "priority"; }

GradientCopies parse_gradient_copies(std::string_view text) {
  for (const GradientCopies copies :
       {GradientCopies::Each, GradientCopies::View, GradientCopies::Batched})
    if (text == to_text(copies)) return copies;
  throw ValueError("'" + std::string(text) + "' is not 'each', 'view' or 'batched'");
}

std::string to_text(GradientCopies copies) {
  return copies == GradientCopies::Each   ? "each"
         : copies == GradientCopies::View ? "view"
                                          : "batched";
}

EncodeStream parse_encode_stream(std::string_view text) {
  if (text == "compute") return EncodeStream::Compute;
  if (text == "side") return EncodeStream::Side;
  throw ValueError("'" + std::string(text) + "' is not 'compute' or 'side'");
}

std::string to_text(EncodeStream stream) {
  return stream == EncodeStream::Compute ? "compute" : "side";
}

bool Scenario::synchronises_every() const {
  if (synchronise != Synchronise::Usual) return synchronise == Synchronise::Every;
  return sharding.kind == Sharding::Zero2 || sharding.kind == Sharding::Fsdp;
}

CostChoice cost_choice(const Scenario& scenario) {
  CostChoice choice;
  choice.compressor = std::string(scenario.compressor->name);
  choice.mode = scenario.mode;
  choice.implementation = scenario.implementation;
  choice.parameter = cost_parameter(*scenario.compressor, scenario.parameter);
  return choice;
}

Scenario dense_twin(Scenario scenario) {
  scenario.compressor = find_compressor("dense");
  if (scenario.collective != nullptr)  // else it is chosen by size
    scenario.collective = &default_collective(Aggregation::AllReduce);
  scenario.mode.clear();
  scenario.implementation.clear();
  return scenario;
}

Seconds alone(const Scenario& scenario) {
  if (scenario.trace->has_launches() && scenario.payload.count == 0) {
    double iterations = 0;  // a second, of all ranks
    for (int rank = 0; rank < scenario.cluster.ranks(); ++rank)
      iterations +=
          1 /
          scenario.trace->iteration_alone(scenario.cluster.speed_of(rank), scenario.accumulation)
              .count();
    return Seconds{scenario.cluster.ranks() / iterations};
  }
  double speed = 0;
  for (int rank = 0; rank < scenario.cluster.ranks(); ++rank)
    speed += scenario.cluster.speed_of(rank);
  return scenario.compute() * (scenario.cluster.ranks() / speed);
}

}  // namespace gradcast
