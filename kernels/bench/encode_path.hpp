// What an encode did, told from its status (kernels/selection.hpp).
#pragma once
#include <cstdint>
#include <string>

namespace gradcast {

/// "fast" where the candidates told; else how far it had to look again.
std::string encode_path(std::uint32_t status);

/// What an encode moves through memory, counted from what its kernels do (kernels/device), not read
/// off the device: the stream, the sample, a tile's notes, and looks back at u.
double encode_bytes(double elements, double selected, std::uint32_t status);

}  // namespace gradcast
