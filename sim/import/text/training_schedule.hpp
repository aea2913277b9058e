// A logged training: how it keeps its model and sends gradients, in the words of a measured row.
#pragma once
#include <cstdint>
#include <string>

#include "sim/import/text/training_log.hpp"
#include "sim/inputs/fusion.hpp"
#include "sim/inputs/sharding.hpp"

namespace gradcast {

struct SentAs {
  ShardingChoice sharding{};
  Precision precision{};
  Fusion fusion{};
  bool overlap = true;
  std::string stack{};
  std::string words{};    // for a report
  std::string assumed{};  // what the log does not say of it
};

/// "tensor parallelism over 2 ranks (tp)" where ranks are divided otherwise than by data; else "".
std::string other_parallelism(const LoggedSetup& setup);

/// `elements`: of the model, where the log does not say them. Throws ValueError where no measured
/// row can say it.
SentAs sent_as(Trainer trainer, const LoggedSetup& setup, std::int64_t ranks, int gpus_per_node,
               std::int64_t elements);

}  // namespace gradcast
