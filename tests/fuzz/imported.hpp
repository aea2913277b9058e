// Checks that hold for any input of an importer.
#pragma once
#include <cmath>

#include "sim/import/readers.hpp"
#include "sim/import/report.hpp"
#include "sim/import/written.hpp"
#include "tests/fuzz/harness.hpp"

namespace gradcast::fuzz {

/// The options of a person who names a device.
inline ImportOptions options_for_a_device() {
  ImportOptions options;
  options.name = "m";
  options.derive.device = Device{"gpu", {1e12}, Seconds{1e-6}, "nowhere", FlopsPerSecond{1e14}};
  options.derive.type = NumberType::Fp32;
  return options;
}

/// Written files can be read back, and the printed text is JSON.
inline void require_sound(const Imported& imported) {
  const ImportedShape shape = shape_of(imported, std::nullopt);
  const ImportedFiles files = files_of(imported, "m", shape, "folder", {"provenance"});
  to_text(to_json(imported));
  to_text(to_flat_json(imported));
  to_text(imported, files, shape);
  if (imported.model) {
    const Model model = load_model({"m.csv", model_csv(*imported.model, imported.provenance)});
    require(model.elements() == imported.model->elements(), "a model is read back as it was");
    if (imported.trace) {
      const IterationTrace trace = load_iteration_trace(
          {"t.csv", iteration_trace_csv(*imported.trace, imported.provenance)});
      require_same_tensors(model, trace);
      require(std::isfinite(trace.iteration().count()), "an iteration takes a time");
    }
  }
}

}  // namespace gradcast::fuzz
