// The words that flags and files have for compressors and their modes.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "kernels/compressor.hpp"

namespace gradcast {

/// The compressor of that name, or of the path of its file. Throws ValueError with the known names,
/// without dense where only what encodes is asked for; DataError for a wrong file.
const Compressor& known_compressor(std::string_view name, bool with_dense = true);

/// The name of a compressor that was typed by name or by the path of its file. An unknown name
/// stays as it is. Throws DataError for a wrong file.
std::string compressor_name(const std::string& typed);

/// A number of 0 or above. Throws ValueError.
double parse_parameter(std::string_view text);

/// The compressor's number where none is asked for. Throws ValueError where it takes none, or not
/// that one.
double parameter_of(const Compressor& compressor, const std::optional<double>& asked);

/// True of the name of a compressor that has no k: its parameter decides what is sent.
bool selects_by_parameter(std::string_view name);

/// The parameter that its cost rows name: 0 where the costs go by what is sent, not by it.
double cost_parameter(const Compressor& compressor, double parameter);

/// "levels 127"; "" where it takes none.
std::string parameter_text(const Compressor& compressor, double parameter);

/// "sparsifiers": what it is one of.
std::string_view family_text(Family family);

/// The compressor's payload at its usual parameter: "8 bytes of each of k elements, gathered".
std::string sent_text(const Compressor& compressor);

/// "fp32", "fp16" or "bf16": the type in which a sparsifier's values travel. Throws ValueError.
ValueType parse_value_type(std::string_view text);
std::string value_type_text(ValueType type);

/// "paper", "code", or "" where there is one definition.
std::string mode_text(Mode mode);

}  // namespace gradcast
