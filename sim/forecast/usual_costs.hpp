// The cost table that answers where nobody names one: it follows the preset and the GPU.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "sim/forecast/request.hpp"
#include "sim/inputs/cost_table.hpp"

namespace gradcast {

/// The authors' operators on the paper's V100.
inline constexpr const char* kPaperCosts = "cost-v100-pytorch-1.1";
/// Those that call torch.topk or randperm, by a PyTorch of today.
inline constexpr const char* kTorchCosts = "cost-h20-pytorch-2.6";
/// The project's kernels, derived from those that ran on a simulated V100.
inline constexpr const char* kDerivedCosts = "cost-v100-derived";

/// The request with a cost table, where it names none. Today's preset has kDerivedCosts, scaled to
/// the GPU that compresses (or to the one that the request names). Where a CPU compresses they are
/// guessed for it (kCpu). A V100's, and those of a GPU that traces/devices.csv does not know, stay
/// as they are. The paper's are taken where the request
/// asks for what they alone have, another implementation than the project's or mode paper, and
/// kTorchCosts in their place, as far as it goes, for a PyTorch since 1.12 on a known GPU. So the
/// paper's are by its preset for a V100 and an unknown GPU. Throws DataError for a wrong
/// traces/devices.csv.
Request with_usual_costs(Request request, DataFiles& files);

/// The request with a table that has rows of its compressor: the one that it names, else that of
/// the compressor's own file, else the usual one if it names a file by its path: a user's costs add
/// to those. Where a CPU compresses, a GPU's table becomes a guess (kCpu). The request stays as it
/// is where all lack it. Throws as CompressorCosts does for a wrong file.
Request with_costs_of_compressor(Request request, DataFiles& files);

/// Its costs: the rows of the table that the request names, on the device that it names. A
/// described compressor without rows has those of its family. Throws DataError.
std::shared_ptr<const CostTable> cost_table_of(const Request& request, const TextFile& file,
                                               DataFiles& files);

/// True for a described compressor that no table times: its costs are those of its family. False
/// where a file is wrong.
bool costs_of_family(const Request& request, DataFiles& files);

/// Compressors that have costs where the request names its table: that table's, those of the usual
/// one, and those that the data folder describes.
std::vector<std::string> compressors_with_costs(const Request& request, DataFiles& files);

/// "guessed for a CPU, up to 160 times a GPU's (cost-v100-derived): not measured; ...",
/// "derived for h100-sxm from the simulated V100: not measured", of kDerivedCosts and of costs that
/// are scaled to a device; "" where a table that somebody named or published is as it was found.
std::string scaled_costs_words(const std::string& costs, const std::string& device);

}  // namespace gradcast
