#include "sim/import/kineto/hybrids.hpp"

#include <array>
#include <utility>

#include "sim/base/error.hpp"

namespace gradcast::kineto {
namespace {

struct Reason {
  CollectiveKind kind;
  const char* what;
};

constexpr std::array kReasons = {
    Reason{CollectiveKind::AllToAll,
           "expert or embedding parallelism, where ranks hold different parameters"},
    Reason{CollectiveKind::SendReceive,
           "a pipeline or a sharded embedding, where ranks hold different parameters"},
    Reason{CollectiveKind::ReduceScatter,
           "FSDP or ZeRO, where ranks hold shards of gradients and parameters"},
    Reason{CollectiveKind::AllGather,
           "FSDP, ZeRO or synchronised batch normalisation, which send more than gradients"},
};

}  // namespace

void refuse_hybrids(const Recording& recording, const std::vector<StepCollectives>& steps,
                    int world_size) {
  const auto refuse = [&](const std::string& found, const std::string& meaning) {
    throw DataError(recording.file, 0,
                    "is no plain data-parallel run: it has " + found + ", which tells of " +
                        meaning + "; gradcast forecasts the all-reduce of gradients only");
  };
  const bool named = has_data_parallel_group(recording);
  if (recording.on_host_to_all && !named) refuse("nccl:all_to_all", kReasons[0].what);
  for (const StepCollectives& step : steps)
    for (const CollectiveCall& call : step.calls) {
      if (named && !call.data_parallel) continue;
      for (const Reason& reason : kReasons)
        if (call.what.kind == reason.kind)
          refuse("'" + to_string(call.what.kind) + "' in " + step.step, reason.what);
      if (call.what.kind == CollectiveKind::AllReduce && call.what.group_size > 0 &&
          world_size > 0 && call.what.group_size < world_size && !named)
        refuse("all-reduces among " + std::to_string(call.what.group_size) + " of " +
                   std::to_string(world_size) + " ranks",
               "tensor parallelism or a mesh of groups");
    }
}

}  // namespace gradcast::kineto
