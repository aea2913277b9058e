// `traces/measured-*.csv` of figures that stand in the source.
#include "sim/generate/generated_file.hpp"

namespace gradcast {

std::vector<GeneratedFile> measured_files() { return {table2_file(), gtopk_file(), two_gpus_file()}; }

}  // namespace gradcast
