#include "sim/options/density_note.hpp"

#include <algorithm>

#include "kernels/compressor.hpp"

namespace gradcast {

void note_density(const Flags& flags, const std::vector<std::string>& compressors) {
  for (const Compressor* compressor : all_compressors()) {
    const std::string name(compressor->name);
    if (!compressor->parameter.selects || std::ranges::find(compressors, name) == compressors.end())
      continue;
    flags.note("how many elements pass the threshold of '" + name +
               "' depends on the gradient: the share --density is taken to pass; " +
               "`gradcast train --counts` counts it");
  }
}

}  // namespace gradcast
