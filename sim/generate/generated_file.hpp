// The data files that the project makes from architectures and published figures, instead of having
// them typed by hand. `generate_data` writes them; a test holds the committed ones against them.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace gradcast {

struct GeneratedFile {
  std::string path;  // below the data root: "models/alexnet.csv"
  std::string content;
};

/// All that follow.
std::vector<GeneratedFile> all_generated_files(const std::filesystem::path& data_root);

/// `models/<model>.csv` of all_networks().
std::vector<GeneratedFile> model_files();

/// `traces/iteration-<model>-<device>.csv` of the models with a published total time. Reads
/// `traces/profile-*.csv` below `data_root`.
std::vector<GeneratedFile> iteration_trace_files(const std::filesystem::path& data_root);

/// `traces/iteration-<model>-a100.csv` and `-h100.csv` of today's models. Reads
/// `traces/devices.csv` below `data_root`.
std::vector<GeneratedFile> derived_trace_files(const std::filesystem::path& data_root);

/// `traces/iteration-<model>-v100.csv` of small networks whose time on a V100 nobody published.
std::vector<GeneratedFile> small_trace_files();

/// `traces/measured-shi2019-table2.csv`, `traces/measured-gtopk-1gbe.csv` and
/// `traces/measured-two-gpus.csv`: all, and each.
std::vector<GeneratedFile> measured_files();
GeneratedFile table2_file();
GeneratedFile gtopk_file();
GeneratedFile two_gpus_file();

/// `traces/cost-v100-pytorch-1.1.csv`, `traces/cost-p102-100-pytorch.csv` and
/// `traces/cost-h20-pytorch-2.6.csv`, in this order.
std::vector<GeneratedFile> cost_table_files();

/// `traces/cost-two-gpus-of-<model>.csv`: an unnamed GPU, by the timers of one of two models.
std::vector<GeneratedFile> two_gpus_cost_files();

/// `traces/cost-v100-floor.csv`. Reads `traces/simulated-v100.csv` below `data_root`.
std::vector<GeneratedFile> floor_cost_files(const std::filesystem::path& data_root);

/// `traces/cost-v100-simulated.csv`. Reads `traces/simulated-v100.csv` below `data_root`.
std::vector<GeneratedFile> simulated_cost_files(const std::filesystem::path& data_root);

/// `traces/cost-v100-derived.csv`. Reads `traces/simulated-v100.csv` below `data_root`.
std::vector<GeneratedFile> derived_cost_files(const std::filesystem::path& data_root);

}  // namespace gradcast
