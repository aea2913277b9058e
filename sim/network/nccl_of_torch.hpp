// The version of NCCL that a PyTorch brings.
#pragma once
#include <span>
#include <string_view>

#include "sim/network/nccl_rule.hpp"

namespace gradcast {

/// A version of NCCL may be named by a PyTorch: "torch-2.5".
inline constexpr std::string_view kTorchPrefix = "torch-";

struct TorchsNccl {
  std::string_view torch;  // "2.5", or "2.12-cu13" where the wheel for CUDA 13 has another NCCL
  NcclVersion nccl;
  std::string_view source;
};

/// The oldest first.
std::span<const TorchsNccl> nccl_of_torches();

/// The NCCL of PyTorch "2.5" or "2.5.1". Throws ValueError with the versions that are known.
NcclVersion nccl_of_torch(std::string_view torch);

}  // namespace gradcast
