#include "sim/options/density_note.hpp"

#include <set>

#include "sim/inputs/compressor_words.hpp"

namespace gradcast {

void note_density(const Flags& flags, const std::vector<std::string>& compressors) {
  for (const std::string& name : std::set(compressors.begin(), compressors.end()))
    if (selects_by_parameter(name))
      flags.note("how many elements pass the threshold of '" + name +
                 "' depends on the gradient: the share --density is taken to pass; " +
                 "`gradcast train --counts` counts it");
}

}  // namespace gradcast
