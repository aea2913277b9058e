// The words that flags and files have for compressors and their modes.
#pragma once
#include <string>
#include <string_view>

#include "kernels/compressor.hpp"

namespace gradcast {

/// The compressor of that name. Throws ValueError with the known names, without dense where only
/// what encodes is asked for.
const Compressor& known_compressor(std::string_view name, bool with_dense = true);

/// "paper", "code", or "" where there is one definition.
std::string mode_text(Mode mode);

}  // namespace gradcast
