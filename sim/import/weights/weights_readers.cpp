// The readers of checkpoints and graphs, as readers.def names them.
#include "sim/base/error.hpp"
#include "sim/import/readers.hpp"
#include "sim/import/weights/derive.hpp"
#include "sim/import/weights/onnx.hpp"
#include "sim/import/weights/onnx_graph.hpp"
#include "sim/import/weights/safetensors.hpp"

namespace gradcast::import_readers {

bool safetensors_recognises(const FileHead& head) { return is_safetensors(head.path, head.bytes); }

Imported safetensors_read(const std::vector<std::filesystem::path>& paths,
                          const ImportOptions& options) {
  ImportNotes notes;
  std::vector<Weight> weights = read_safetensors(paths, notes);
  const std::string stored = stored_type(weights);
  return imported_from(network_of(std::move(weights), options.derive.weights, std::move(notes)),
                       options.name, stored, options.derive);
}

bool onnx_recognises(const FileHead& head) { return is_onnx(head.bytes); }

Imported onnx_read(const std::vector<std::filesystem::path>& paths, const ImportOptions& options) {
  if (paths.size() > 1)
    throw UsageError("an ONNX model is one file (weights in others are found by it, and not read)");
  OnnxNetwork read = read_onnx(paths.front(), options.derive.weights);
  return imported_from(read.network, options.name, read.stored_type, options.derive);
}

}  // namespace gradcast::import_readers
