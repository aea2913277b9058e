// The types of numbers that networks are trained in.
#pragma once
#include <string_view>

namespace gradcast {

/// Tf32 and the 16-bit ones are those of tensor cores.
enum class NumberType { Fp32, Tf32, Fp16, Bf16 };

inline constexpr NumberType kNumberTypes[] = {NumberType::Fp32, NumberType::Tf32, NumberType::Fp16,
                                              NumberType::Bf16};

/// "fp32", "tf32", "fp16", "bf16".
std::string_view to_text(NumberType type);

/// The reverse, and PyTorch's names: "bfloat16", "torch.half". Throws ValueError.
NumberType parse_number_type(std::string_view text);

/// Bytes in memory and on the wire: a TF32 product reads and writes 4 bytes.
int bytes_of(NumberType type);

/// "fp32", "fp16" or "bf16": what parameters and gradients are kept in. Throws ValueError.
NumberType parse_tensor_type(std::string_view text);

}  // namespace gradcast
