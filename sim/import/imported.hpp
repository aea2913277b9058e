// A training run in gradcast's terms, as somebody else's file describes it. Every reader returns
// this.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/units.hpp"
#include "sim/inputs/cluster.hpp"
#include "sim/inputs/collective_curve.hpp"
#include "sim/inputs/fusion.hpp"
#include "sim/inputs/iteration_trace.hpp"
#include "sim/inputs/measured.hpp"
#include "sim/inputs/model.hpp"
#include "sim/inputs/sharding.hpp"

namespace gradcast {

/// Source of the gradient tensors' sizes.
enum class ShapesFrom {
  Recorded,  // the file has the shapes
  Inferred,  // worked out from launch grids, buckets, NCCL's counts
  Given,     // --params
  Unknown,   // nothing to work them out from: there is no model
};

/// "recorded", "inferred", "given", "unknown".
std::string to_string(ShapesFrom shapes);

/// The collectives of one name, in one iteration.
struct ImportedCollective {
  std::string name;    // "all-reduce", "broadcast", ...: the names of `gradcast list collectives`
  int count = 0;       // an iteration
  Bytes bytes;         // an iteration, all of them, as handed over by one rank
  Seconds seconds{0};  // an iteration, all of them; on one rank this includes waiting for others
  /// Given if the files of several ranks were read. `transfer`: from the last rank's start to the
  /// first one's end. `skew`: the ranks' waiting for each other before that. Both are sums, like
  /// `seconds`.
  std::optional<Seconds> transfer{}, skew{};
};

/// An all-reduce of gradients: how much it carried, and how fast it ever was.
struct ImportedTransfer {
  Bytes bytes;
  Seconds seconds{0};
};

/// A cluster that was measured without a training.
struct ImportedCluster {
  Cluster cluster{};
  std::map<std::string, std::string, std::less<>> sources{};  // by property: those that are written
  CollectiveCurve curve{};
};

/// A run as a training log tells it.
struct ImportedRun {
  MeasuredRun row;            // its iteration is the median of those printed
  int iterations = 0;         // printed ones
  Seconds least{0}, most{0};  // 5 % of them are shorter, 5 % longer
  std::int64_t tokens = 0;    // of one GPU in an iteration; 0: not known
  std::string words;          // how the model is kept and sent
};

/// Medians over the steps that were used. window = compute + exposed + idle, and
/// window = busy + host + wait + other (on the compute stream).
struct ImportedTimes {
  Seconds window{0};   // first kernel of a step on the compute stream to that of the next
  Seconds compute{0};  // a compute kernel runs
  Seconds exposed{0};  // a collective runs and no compute kernel does
  Seconds idle{0};     // neither runs
  Seconds busy{0};     // the compute stream has a kernel
  Seconds host{0};     // it waits for the host to launch the next one
  Seconds wait{0};     // it waits while a collective runs
  Seconds other{0};    // the rest
  Seconds forward{0};
  Seconds backward{0};
  Seconds recompute{0};  // a part of backward: forward that it computes again (checkpointing)
  Seconds update{0};     // the optimizer's step
};

/// Sentences for a person, each once, in the order in which they were met.
struct ImportNotes {
  std::vector<std::string> used;      // "steps 4 and 5 of 3"
  std::vector<std::string> dropped;   // "step 3: the profiler began inside it"
  std::vector<std::string> inferred;  // "sizes of 161 tensors, from launch grids"
  std::vector<std::string> unknown;   // "one rank only: collectives include waiting"
};

struct Imported {
  std::string kind;    // "kineto", "safetensors", ...: the name that --kind takes
  std::string device;  // "Tesla V100-SXM2-32GB"; "" where the file does not say
  int world_size = 1;  // ranks of the run
  int steps_used = 0;
  int steps_dropped = 0;
  int linked = 0;  // operations on the GPU whose launch was found
  int gradients = 0;
  ShapesFrom shapes = ShapesFrom::Unknown;
  std::optional<Model> model;           // none where sizes are unknown
  std::optional<IterationTrace> trace;  // none where the file has no times
  std::optional<ImportedTimes> times;   // likewise
  std::vector<ImportedCollective> collectives;
  std::vector<std::int64_t> buckets;        // elements, in order of sending
  bool finds_unused = false;                // DDP had find_unused_parameters=True
  std::vector<ImportedTransfer> transfers;  // of the buckets: the least seconds over the steps
  ShardingChoice sharding;                  // `group` is set where a part of the ranks share a copy
  Precision precision;                      // of a sharded run, where the file says it
  bool transfers_with_waiting = true;       // for other ranks: not all ranks' files were read
  std::optional<ImportedCluster> cluster;   // in place of all of these
  std::vector<ImportedRun> runs;            // likewise: of training logs
  std::vector<std::string> provenance;      // comment lines of the files that are written
  bool weights_unread = false;              // files of weights are long, and nothing reads them
  ImportNotes notes;
  std::vector<std::string> mixed;  // why the files seem to be of several clusters; in notes, too
};

/// The run as it is without the profiler that recorded it: changes the times so that a step takes
/// `iteration`. A profiler slows the host: where the GPU waits for its host long enough, that
/// waiting becomes shorter, the dates of launches come earlier in proportion, and kernels take as
/// long as before. Else every time is multiplied. Says in the notes which. Throws ValueError where
/// there are no times.
void rescale(Imported& imported, Seconds iteration);

/// Notes what does not fit together: buckets that do not add up to the gradients.
void note_doubts(Imported& imported);

/// True if the run was timed while it sent buckets of gradients: the backward of its trace has the
/// framework's copies into them and back.
inline bool has_framework(const Imported& imported) {
  return imported.times && !imported.buckets.empty();
}

/// True if the run was fully sharded.
inline bool sharded(const Imported& imported) { return imported.sharding.kind == Sharding::Fsdp; }

/// The ranks that share a copy of a fully sharded run's model.
inline int shard_ranks(const Imported& imported) {
  return imported.sharding.group > 0 ? imported.sharding.group : imported.world_size;
}

/// True if each gradient was sent by itself.
inline bool sends_each(const Imported& imported) {
  return imported.model && imported.buckets.size() > 1 &&
         imported.buckets.size() == imported.model->tensors.size();
}

/// The fusion that makes the run's buckets of its gradients: DDP's, with the roundest size in MiB
/// where its own makes others. DDP's own where no size makes them either.
Fusion fusion_of(const Imported& imported);

}  // namespace gradcast
