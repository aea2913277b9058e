#include "sim/inputs/compressor_words.hpp"

#include <vector>

#include "sim/base/error.hpp"
#include "sim/base/text.hpp"

namespace gradcast {

const Compressor& known_compressor(std::string_view name, bool with_dense) {
  if (const Compressor* found = find_compressor(name)) return *found;
  std::vector<std::string> known;
  for (const Compressor* compressor : all_compressors())
    if (with_dense || compressor->rule != Rule::Everything) known.emplace_back(compressor->name);
  throw ValueError("unknown compressor '" + std::string(name) + "'" +
                   did_you_mean(std::string(name), known) + " (known: " + join(known) + ")");
}

std::string mode_text(Mode mode) {
  return mode == Mode::Paper ? "paper" : mode == Mode::Code ? "code" : "";
}

}  // namespace gradcast
