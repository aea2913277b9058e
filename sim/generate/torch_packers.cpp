#include "sim/generate/torch_packers.hpp"

#include <initializer_list>

namespace gradcast {
namespace {

using namespace torch_operators;

Passes together(std::initializer_list<Passes> parts) {
  Passes all;
  for (const Passes& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

// Building blocks of the definitions (kernels/packing.hpp). A code that is no PyTorch type takes a
// byte.
const Passes kSignOfByte{kFromByte, kTimes, kAddNumber};  // 0 or 1 becomes -1 or +1
const Passes kDrawBelow{kUniform, kLess, kFromByte};      // 1 with that chance, else 0
const Passes kSum{kAdd};                                  // adds a worker's values
const Passes kFeedback{kAdd};                             // u = gradient + residual
const Passes kKeepRest{kSubtract};                        // residual = u - sent

// Products of PowerSGD read the matrix once each; their other operands are narrow. Gram-Schmidt
// takes four operators a column on the narrow P, which are launches and little else.
Passes gram_schmidt(int rank) {
  return Passes(static_cast<std::size_t>(rank), kColumnOfGramSchmidt);
}

TorchPacker powersgd(std::string_view mode, int rank) {
  return {"powersgd",
          mode,
          static_cast<double>(rank),
          together({kFeedback, {kReadOnce}, gram_schmidt(rank), {kReadOnce}}),
          {},
          together({{kWriteOnce}, kKeepRest})};
}

std::vector<TorchPacker> packers() {
  const Passes half{kToHalf, kDivideHalf};
  const Passes from_half{kFromHalf};

  const Passes int8_value{kFromByte, kTimes};
  const Passes qsgd_value{kFromByte, kTimes};
  const Passes natural_value{kFromByte, kShift};
  const Passes scaled_sign = together({kSignOfByte, {kTimes}});
  const Passes two_means{kFromByte, kTimes, kIsZero, kFromByte, kTimes, kAdd};

  return {
      {"fp16", "", 0, half, {}, from_half},
      {"bf16", "", 0, half, {}, from_half},
      {"int8",
       "",
       0,
       together({kFeedback, {kAbs, kMax, kDivide, kRound, kToByte}, int8_value, kKeepRest}),
       together({int8_value, kSum}),
       {}},
      {"qsgd",
       "",
       0,
       together({{kNorm, kAbs, kTimes, kFloor, kSubtract},
                 kDrawBelow,
                 {kAdd, kSign, kMultiply, kToByte}}),
       together({qsgd_value, kSum}),
       {}},
      {"natural",
       "",
       0,
       together({{kAbs, kMask}, kDrawBelow, {kShift, kAdd, kLessThanZero, kToByte}}),
       together({natural_value, kSum}),
       {}},
      {"terngrad",
       "",
       0,
       together({{kStd, kClamp, kAbs, kMax, kTimes}, kDrawBelow, {kSign, kMultiply, kToByte}}),
       together({{kFromByte, kTimes}, kSum}),
       {}},
      {"efsignsgd",
       "",
       0,
       together({kFeedback, {kAbs, kMean, kLessThanZero}, scaled_sign, kKeepRest}),
       together({scaled_sign, kSum}),
       {}},
      {"onebit",
       "",
       0,
       together({kFeedback,
                 {kLessThanZero, kFromByte, kMultiply, kMean, kMean, kIsZero, kFromByte, kMultiply,
                  kMean, kMean},
                 two_means,
                 kKeepRest}),
       together({two_means, kSum}),
       {}},
      {"signsgd",
       "",
       0,
       {kLessThanZero},
       together({kSignOfByte, kSum}),
       together({{kLessThanZero}, kSignOfByte})},
      powersgd("paper", 1),
      powersgd("paper", 2),
      powersgd("paper", 4),
      powersgd("code", 1),
      powersgd("code", 2),
      powersgd("code", 4),
  };
}

}  // namespace

const std::vector<TorchPacker>& torch_packers() {
  static const std::vector<TorchPacker> all = packers();
  return all;
}

std::vector<OperatorCall> calls_of(const Passes& passes, std::int64_t elements) {
  std::vector<OperatorCall> calls;
  for (const TorchOperator& pass : passes) calls.push_back({pass, static_cast<double>(elements)});
  return calls;
}

}  // namespace gradcast
