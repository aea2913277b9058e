#include "sim/generate/generated_file.hpp"

namespace gradcast {

std::vector<GeneratedFile> all_generated_files(const std::filesystem::path& data_root) {
  std::vector<GeneratedFile> all;
  for (const auto& files : {model_files(), measured_files(), iteration_trace_files(data_root),
                            derived_trace_files(data_root), small_trace_files(), cost_table_files(),
                            two_gpus_cost_files(), floor_cost_files(data_root),
                            simulated_cost_files(data_root), derived_cost_files(data_root)})
    all.insert(all.end(), files.begin(), files.end());
  return all;
}

std::vector<GeneratedFile> measured_files() {
  return {table2_file(), gtopk_file(), two_gpus_file()};
}

}  // namespace gradcast
