#include "sim/options/compressor_notes.hpp"

#include <set>

#include "kernels/compressor.hpp"
#include "sim/base/text.hpp"
#include "sim/inputs/compressor_words.hpp"

namespace gradcast {

void note_density(const Flags& flags, const std::vector<std::string>& compressors) {
  for (const std::string& name : std::set(compressors.begin(), compressors.end()))
    if (selects_by_parameter(name))
      flags.note("how many elements pass the threshold of '" + name +
                 "' depends on the gradient: the share --density is taken to pass; " +
                 "`gradcast train --counts` counts it");
}

void note_collective(const Flags& flags, const std::vector<std::string>& compressors) {
  const std::set<std::string> several(compressors.begin(), compressors.end());
  if (several.size() < 2) return;
  std::vector<std::string> gathered;
  for (const std::string& name : several) {
    const Compressor* known = find_compressor(name);
    if (known != nullptr && known->adds_up_on_request()) gathered.push_back(name);
  }
  if (gathered.empty()) return;
  flags.note(
      "what these send is gathered here, and could be all-reduced where ranks share a seed "
      "or a scale (--collective ring-all-reduce): " +
      join(gathered));
}

}  // namespace gradcast
