// The path that an encode took, from its status (kernels/selection.hpp).
#pragma once
#include <cstdint>
#include <string>

namespace gradcast {

/// "fast" if the candidates were enough; else how far it had to look again.
std::string encode_path(std::uint32_t status);

/// The bytes that an encode moves through memory: the stream, the sample, the notes of tiles, and
/// second reads of u. They are counted from what the kernels do (kernels/device), not measured on
/// the device.
double encode_bytes(double elements, double selected, std::uint32_t status);

}  // namespace gradcast
