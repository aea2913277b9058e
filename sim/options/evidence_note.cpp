#include "sim/options/evidence_note.hpp"

#include "sim/base/csv.hpp"

namespace gradcast {

void note_trace_evidence(const Flags& flags, const Request& request, DataFiles& files) {
  if (request.payload) return;  // of no model
  const TextFile& trace = files.read(kIterationTraces, request.trace_name(), request.folder);
  const std::string evidence = comment_value(trace, "evidence");
  if (evidence.starts_with("derived"))
    flags.note("the model's times are " + evidence + "; `# evidence:` of " + trace.path.string());
}

}  // namespace gradcast
