// The reader of PyTorch profiler traces: one rank's file, or those of all ranks.
#include <utility>

#include "sim/import/kineto/buckets.hpp"
#include "sim/import/kineto/collectives.hpp"
#include "sim/import/kineto/profile.hpp"
#include "sim/import/kineto/rank.hpp"
#include "sim/import/kineto/rank_model.hpp"
#include "sim/import/kineto/ranks.hpp"
#include "sim/import/kineto/told_steps.hpp"
#include "sim/import/readers.hpp"

namespace gradcast::kineto {
namespace {

ImportedTimes times_of(const Rank& rank) {
  const auto seconds = [&](Nanoseconds WindowTimes::*member) {
    return Seconds{median_of(rank, member)};
  };
  ImportedTimes times;
  times.window = seconds(&WindowTimes::window);
  times.compute = seconds(&WindowTimes::compute);
  times.exposed = seconds(&WindowTimes::exposed);
  times.idle = seconds(&WindowTimes::idle);
  times.busy = seconds(&WindowTimes::busy);
  times.host = seconds(&WindowTimes::host);
  times.wait = seconds(&WindowTimes::wait);
  times.other = seconds(&WindowTimes::other);
  times.forward = seconds(&WindowTimes::forward);
  times.backward = seconds(&WindowTimes::backward);
  times.recompute = seconds(&WindowTimes::recomputed);
  times.update = seconds(&WindowTimes::update);
  return times;
}

Imported imported_from(std::vector<Rank> ranks, const ImportOptions& options,
                       const std::string& kind) {
  sort_ranks(ranks);
  Imported imported;
  imported.kind = kind;
  Rank& rank = ranks.front();
  imported.device = rank.device;
  drop_odd_steps(rank, imported.notes);
  note_steps(rank, imported);
  imported.linked = static_cast<int>(rank.linked);
  if (rank.linked < rank.gpu_operations)
    imported.notes.dropped.push_back(
        std::to_string(rank.gpu_operations - rank.linked) +
        " GPU operations without a launch: they count as time, and belong to no tensor");
  imported.times = times_of(rank);
  note_world(ranks, imported);
  if (imported.times->recompute > Seconds{0})
    imported.notes.used.push_back(
        "backward computes forward again (activation checkpointing) for " +
        to_text(Seconds{rounded_to(3, imported.times->recompute.count())}) +
        ", and the trace has that in it: forecast it without --recompute");
  const std::vector<StepCollectives> sending = sending_steps(rank, imported.notes);
  imported.collectives = summary_of(sending);
  const int element_bytes = element_bytes_of(rank);
  set_buckets(sending, element_bytes, imported);
  set_model(rank, options, element_bytes, imported);
  if (rank.shards)
    set_sharding(rank, imported);
  else
    set_element_type(element_bytes, imported);
  for (ImportedCollective& one : imported.collectives)
    if (rank.sends_each && one.name == to_string(CollectiveKind::AllReduce) && one.bytes.count == 0)
      for (const std::int64_t elements : imported.buckets)
        one.bytes = one.bytes + Bytes{elements * element_bytes};
  if (ranks.size() > 1) share_collectives(ranks, imported);
  if (rank.device.empty()) imported.notes.unknown.push_back("the GPU: the trace does not name it");
  return imported;
}

}  // namespace

Imported import_profile(const std::vector<std::filesystem::path>& paths,
                        const ImportOptions& options, const std::string& kind,
                        const ReadEvents& read) {
  std::vector<Rank> ranks;
  for (const std::filesystem::path& path : paths) ranks.push_back(read_rank(path, read));
  return imported_from(std::move(ranks), options, kind);
}

}  // namespace gradcast::kineto

namespace gradcast::import_readers {

bool kineto_recognises(const FileHead& head) {
  const std::size_t begin = head.bytes.find_first_not_of(" \t\r\n\xef\xbb\xbf");
  if (begin == std::string::npos) return false;
  const char first = head.bytes[begin];
  const auto has = [&](const char* text) { return head.bytes.find(text) != std::string::npos; };
  if (first == '[') return has("\"ph\"");
  return first == '{' && (has("\"traceEvents\"") || has("\"deviceProperties\"") ||
                          has("\"schemaVersion\"") || has("\"distributedInfo\""));
}

Imported kineto_read(const std::vector<std::filesystem::path>& paths,
                     const ImportOptions& options) {
  return kineto::import_profile(paths, options, "kineto", kineto::read_events);
}

}  // namespace gradcast::import_readers
