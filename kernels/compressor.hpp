// The table of compressors: what each is called, and what its encoding asks of the network.
#pragma once
#include <span>
#include <string_view>

namespace gradcast {

/// What ranks do with their encoded gradients.
enum class Aggregation {
  AllReduce,  // encodings add up: the ranks sum them, and the size stays the same
  AllGather,  // encodings do not add up: every rank receives all of them
};

struct Compressor {
  std::string_view name;
  std::string_view summary;
  Aggregation aggregation;
  std::string_view source;
};

/// In compressors.def order.
std::span<const Compressor* const> all_compressors();

/// nullptr where there is none of that name.
const Compressor* find_compressor(std::string_view name);

}  // namespace gradcast
