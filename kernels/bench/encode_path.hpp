// The path that an encode took, from its status (kernels/selection.hpp) and its work.
#pragma once
#include <cstdint>
#include <string>

#include "kernels/encoder.hpp"

namespace gradcast {

/// "fast" if the candidates were enough; else how far it had to look again.
std::string encode_path(std::uint32_t status);

/// The bytes that an encode moves through memory: the stream, the sample (`sampled` elements), the
/// notes and candidates of tiles, and second reads of u. They are counted from what the kernels do
/// (kernels/device), not measured on the device. `looks`: how often the last kernel goes over the
/// tiles, each time over u itself where a tile has more candidates than slots.
double encode_bytes(double elements, double sampled, double selected, std::uint32_t status,
                    const EncoderWork& work, int looks);

/// How often a rule's last kernel goes over the tiles: to tally and to send; before that, rules
/// that decide by thresholds count, and rTop-k draws in three levels and tallies again.
int looks_of(Rule rule);

}  // namespace gradcast
