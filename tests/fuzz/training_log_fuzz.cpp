// room: import
// seeds: tests/sim/import/logs/*.log
// words: sim/import/text/training_log.cpp sim/import/text/training_schedule.cpp

#include "sim/import/readers.hpp"
#include "sim/import/text/training_log.hpp"
#include "tests/fuzz/harness.hpp"
#include "tests/fuzz/imported.hpp"

namespace gradcast::fuzz {
namespace {

void read(const std::string& bytes) {
  ImportOptions options;
  options.name = "m";
  options.said = {"llama-3-8b", "iteration-llama-3-8b-h100", "dgx-h100", 1, {Seconds{1}}};
  options.machine = Cluster{};
  options.machine->gpus_per_node = 8;
  options.layout.nodes = 2;
  const char* reader = is_training_log(bytes, Trainer::Megatron) ? "megatron" : "torchtitan";
  const Imported imported = import_reader_named(reader).read({file_of(bytes, "run.log")}, options);
  require_sound(imported);
  require_readable(files_of(imported, "m", shape_of(imported, {}), "folder", {"provenance"}));
}

const Harness harness("training_log", read);

}  // namespace
}  // namespace gradcast::fuzz
