// The costs of PyTorch's operators, of 1.1 and, where they differ, of today: the bytes they move,
// and their launches. They are derived from what the operators must read and write. This project
// timed none of them.
#pragma once
#include <string_view>

#include "sim/base/units.hpp"
#include "sim/generate/published_gpu.hpp"
#include "sim/inputs/model.hpp"

namespace gradcast {

struct TorchOperator {
  std::string_view name;
  double bytes_per_element = 0;
  int launches = 1;
  bool compares = false;  // known by times of the device instead of its bytes
  bool permutes = false;  // by fewer bytes in a PyTorch of today
};

/// An operator and the number of elements that it reads, or of indices that it is given.
struct OperatorCall {
  TorchOperator op;
  double elements;
};

/// The time of a call: the longest of memory traffic, launches and the fit.
Seconds time_of(const OperatorCall& call, const PublishedGpu& device = kV100);

/// SGD with momentum and weight decay as PyTorch 1.1 launches it, tensor by tensor.
Seconds torch_update_time(const Model& model, const PublishedGpu& device);

namespace torch_operators {

// Dense fp32 operators, one kernel each: nothing is fused.
inline constexpr TorchOperator kFill{"fill_", 4};
inline constexpr TorchOperator kAbs{"abs", 8};
inline constexpr TorchOperator kAdd{"add_", 12};
inline constexpr TorchOperator kCopy{"x + 0.0", 8};
inline constexpr TorchOperator kDivide{"div_", 8};
inline constexpr TorchOperator kMean{"mean", 4};
inline constexpr TorchOperator kStd{"std", 4};  // assumed to read its input once
inline constexpr TorchOperator kMax{"max", 4};

inline constexpr TorchOperator kNorm{"norm", 4};
inline constexpr TorchOperator kTimes{"x * number", 8};
inline constexpr TorchOperator kAddNumber{"x + number", 8};
inline constexpr TorchOperator kMultiply{"x * y", 12};
inline constexpr TorchOperator kSubtract{"x - y", 12};
inline constexpr TorchOperator kFloor{"floor", 8};
inline constexpr TorchOperator kRound{"round", 8};
inline constexpr TorchOperator kClamp{"clamp", 8};
inline constexpr TorchOperator kSign{"sign", 8};
inline constexpr TorchOperator kMask{"bits & mask", 8};
inline constexpr TorchOperator kShift{"bits << places", 8};
inline constexpr TorchOperator kUniform{"rand", 4};
inline constexpr TorchOperator kLess{"x < y", 8 + 1};
inline constexpr TorchOperator kLessThanZero{"x < 0", 4 + 1};
inline constexpr TorchOperator kIsZero{"~mask", 1 + 1};
inline constexpr TorchOperator kToByte{"to(uint8)", 4 + 1};
inline constexpr TorchOperator kFromByte{"to(float)", 1 + 4};
inline constexpr TorchOperator kToHalf{"to(half)", 4 + 2};
inline constexpr TorchOperator kFromHalf{"half to(float)", 2 + 4};
inline constexpr TorchOperator kDivideHalf{"half div_", 2 + 2};
// A product of a matrix with a narrow one, and of two narrow ones.
inline constexpr TorchOperator kReadOnce{"matrix x narrow", 4};
inline constexpr TorchOperator kWriteOnce{"narrow x narrow", 4};
// Norm, division, product and subtraction of a column, which has few elements.
inline constexpr TorchOperator kColumnOfGramSchmidt{"Gram-Schmidt, a column", 0, 4};

// A comparison writes a mask of bytes; nonzero() reads it to count and again to select (assumed
// three launches), and then writes an int64 index for each element found.
inline constexpr TorchOperator kGreater{"x > threshold", 4 + 1};
inline constexpr TorchOperator kNonzero{"nonzero", 2, 3};
inline constexpr TorchOperator kFoundIndices{"indices of nonzero", 8, 0};

// Indices that are far apart each touch a 32-byte sector of their own. Indices are int64; on the
// wire they are int32.
inline constexpr int kSector = 32;
inline constexpr TorchOperator kGather{"x[indices]", 8 + kSector + 4};
inline constexpr TorchOperator kGatherIndices{"indices[indices]", 8 + kSector + 8};
inline constexpr TorchOperator kZeroAt{"x[indices] = 0", 8 + kSector};
inline constexpr TorchOperator kPut{"x[indices] = values", 8 + 4 + kSector};
inline constexpr TorchOperator kToLong{"long", 4 + 8};

// One kernel selects, another sorts what was selected.
inline constexpr TorchOperator kTopk{"topk", 0, 2, true};

// The selected of a torch.topk of today are sorted in four passes of 8 bits, values with int64
// indices: a pass reads and writes 12 bytes, the histograms read 4, and indices are looked up.
inline constexpr TorchOperator kSortSelected{"sort of topk", 4 * 2 * 12 + 4 + 8 + kSector + 8, 14};

// randperm() fills int64 keys at random, writes 0, 1, 2... as int64 values and sorts the values by
// their keys (TensorFactories.cu, pytorch/pytorch@6e699ea), which thrust 1.9 hands to CUB's radix
// sort over all 64 bits (sort.h, NVIDIA/thrust@05ba024). On sm_70 CUB takes at most 7 bits a pass
// (Policy700 of dispatch_radix_sort.cuh, cmok4290/cub@27b7498); a pass reads the keys for a
// histogram, scans it, then reads keys and values and writes them where they belong.
// Assumptions: that the CUB within CUDA 10.1 has this policy (older ones take 5 bits, 13 passes),
// that a pass streams at the bandwidth above (CUB's own remark of 7.62e9 keys/s for 32-bit keys on
// GV100 is 5 passes of 12 bytes, 457 GB/s: the sort may take 1.7 times as long), and that below
// 30,000 elements, where PyTorch shuffles on the CPU and copies, it takes what it would here.
inline constexpr int kSortBits = 64;
inline constexpr int kSortBitsPerPass = 7;
inline constexpr int kSortPasses = (kSortBits + kSortBitsPerPass - 1) / kSortBitsPerPass;
static_assert(kSortPasses % 2 == 0, "after an odd number the result would be copied back");
inline constexpr TorchOperator kRandperm{"randperm", 8 + 8 + kSortPasses*(8 + 16 + 16),
                                         1 + 1 + kSortPasses * 3, false, true};

}  // namespace torch_operators
}  // namespace gradcast
