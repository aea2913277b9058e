// Notes of what an answer took for granted: about compressors, and about compute times that nobody
// measured.
#pragma once
#include <string>
#include <vector>

#include "sim/forecast/request.hpp"
#include "sim/options/flags.hpp"

namespace gradcast {

/// Notes, for each compressor that selects by a threshold, that the share that passes is assumed.
void note_density(const Flags& flags, const std::vector<std::string>& compressors);

/// For answers without a named collective: notes which of several compressors were gathered, but
/// could be all-reduced.
void note_collective(const Flags& flags, const std::vector<std::string>& compressors);

/// Notes, for each described compressor that no table times, that its costs are those of its
/// family.
void note_untimed(const Flags& flags, const std::vector<Request>& requests, DataFiles& files);

/// For answers that do not say it: notes what a job of today is taken to be, and what is not sure
/// of its links.
void note_assumed(const Flags& flags, const Request& request, DataFiles& files);

/// Notes each trace that was named and is of a CPU, where the cluster has a GPU: its times are not
/// scaled.
void note_cpus_trace(const Flags& flags, const std::vector<Request>& requests, DataFiles& files);

/// Notes what needs more memory than its GPU has, where the cluster's file names that: each model
/// at a batch once.
void note_memory(const Flags& flags, const std::vector<Request>& requests, DataFiles& files);

/// Notes the cluster of an answer that names none.
void note_usual_cluster(const Flags& flags, const Request& request);

/// Notes a sharding that the named software does not have, each once.
void note_sharding(const Flags& flags, const std::vector<Request>& requests, DataFiles& files);

/// Notes GPUs that nothing names, where a bandwidth as of NVLink's data sheets tells them. Notes a
/// flag that gives a node more GPUs than its cluster's file, where these share NVLink: the file's
/// links are taken for all of them. And one that gives as few as a host has to the racks of a file;
/// both of clusters of the data folder alone, for a path is the user's own machine.
void note_gpus_of_node(const Flags& flags, const std::vector<Request>& requests, DataFiles& files);

/// Notes GPUs that send through the host's memory where flags name them, and an NVLink switch that
/// such GPUs do not have.
void note_links(const Flags& flags, const Cluster& cluster);

/// A line for a trace whose `# evidence:` says that it is derived, as `import` writes it for a
/// checkpoint on a device. And one for a stated compute time that is far from the trace's.
void note_trace_evidence(const Flags& flags, const Request& request, DataFiles& files);

}  // namespace gradcast
