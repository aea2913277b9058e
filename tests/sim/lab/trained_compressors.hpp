// Every compressor that a training takes, of each family.
#pragma once
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "sim/lab/settings.hpp"

namespace gradcast::lab {

inline std::vector<const Compressor*> all_trained() {
  std::vector<const Compressor*> all;
  for (const auto some : {all_sparsifiers(), all_packers(), all_low_rank()})
    all.insert(all.end(), some.begin(), some.end());
  return all;
}

inline std::vector<std::string> trained_compressors() {
  std::vector<std::string> names;
  for (const Compressor* compressor : all_trained()) names.emplace_back(compressor->name);
  return names;
}

/// Chooses the compressor as its source has it; where there are two modes, as the code has it.
inline void choose_compressor(TrainingSettings& settings, std::string_view name) {
  for (const Compressor* compressor : all_trained()) {
    if (compressor->name != name) continue;
    settings.compressor = compressor;
    settings.mode = compressor->two_modes ? Mode::Code : Mode::Only;
    settings.parameter = compressor->parameter.usual;
    settings.feedback = compressor->feedback;
    if (compressor->low_rank != nullptr) settings.scope = Scope::Layer;
    return;
  }
  throw std::logic_error("no compressor " + std::string(name));
}

}  // namespace gradcast::lab
