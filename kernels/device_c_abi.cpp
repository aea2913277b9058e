// The C interface to the kernels (include/gradcast/device_compressors.h): checks what a caller
// gave, prepares and runs. It is compiled once for each device: GRADCAST_DEVICE is on_cuda or
// on_emulator.
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "include/gradcast/device_compressors.h"
#include "kernels/c_abi_checks.hpp"
#include "kernels/compressor.hpp"
#include "kernels/encoder.hpp"
#include "kernels/level_packer.hpp"
#include "kernels/low_rank_encoder.hpp"
#include "kernels/packer.hpp"
#ifdef GRADCAST_EMULATED
#include "kernels/emulator/emulator.hpp"
#endif

/// The steps of a call own what was prepared.
struct gradcast_call {
  std::vector<std::function<void(void* stream)>> steps;
  std::function<void(std::uint64_t round, void* stream)> set_round;  // empty: nothing is drawn
};

namespace gradcast {
using namespace c_abi;
namespace device = GRADCAST_DEVICE;
namespace {

#ifdef GRADCAST_EMULATED
constexpr const char* kKind = "emulator";
/// The plain order of threads and blocks.
void* stream_of(void*) {
  static emulator::Schedule plain;
  return &plain;
}
/// A lock on the emulator: there is only one.
[[nodiscard]] auto turn_of_caller() {
  static std::mutex one_at_a_time;
  return std::lock_guard(one_at_a_time);
}
#else
constexpr const char* kKind = "cuda";
void* stream_of(void* stream) { return stream; }
int turn_of_caller() { return 0; }
#endif

const Compressor& of_name(const char* name) {
  const std::string wanted = needed(name, "compressor");
  for (const Compressor* each : all_compressors())
    if (each->name == wanted) return *each;
  throw BadCall("no compressor '" + wanted.substr(0, 80) + "'");
}

/// A cast or quantiser, and its parameter.
struct Packed {
  PackRule rule{};
  double parameter = 0;

  Packed(const char* name, double asked) {
    const Compressor& compressor = of_name(name);
    require_that(compressor.packing != nullptr,
                 std::string(compressor.name) + " is no cast or quantiser");
    rule = compressor.packing->rule;
    parameter = parameter_for(compressor, asked);
  }
};

/// A tensor's gradient, or the place of a mean, of the type that the caller named.
ConstNumbers gradient_of(const void* numbers, std::int32_t type) {
  return {numbers, value_type_for(type)};
}
Numbers dense_of(void* numbers, std::int32_t type) { return {numbers, value_type_for(type)}; }

DecoderSet set_of(const gradcast_sparse_set& given, ValueType type) {
  DecoderSet set;
  set.value_type = type;
  needed(given.values, "values");
  if (type == ValueType::Fp32)
    set.values = static_cast<const float*>(given.values);
  else
    set.codes = static_cast<const std::uint16_t*>(given.values);
  set.indices = needed(given.indices, "indices");
  set.count = needed(given.count, "count");
  return set;
}

/// `convert` of each of the caller's items.
template <class Given, class Convert>
auto each_of(const Given* given, std::int64_t number, const char* name, Convert convert) {
  require_that(number >= 1 && number <= kMostElements, std::to_string(number) + " of " + name);
  needed(given, name);
  std::vector<decltype(convert(*given))> all;
  for (const Given* one = given; one != given + number; ++one) all.push_back(convert(*one));
  return all;
}

/// A call of these steps, which own what was made.
template <class Made>
gradcast_call* call_of(std::vector<std::function<void(void*)>> steps, std::shared_ptr<Made> made) {
  auto call = std::make_unique<gradcast_call>();
  call->steps = std::move(steps);
  if constexpr (requires { made->set_round(std::uint64_t{}, nullptr); })
    call->set_round = [made](std::uint64_t round, void* stream) { made->set_round(round, stream); };
  return call.release();
}

/// Prepares in the lent memory; without it, only says how much is needed. `make(workspace)` gives
/// the call.
template <class Make>
void prepare(gradcast_workspace* lent, gradcast_call** call, Make make) {
  needed(lent, "workspace");
  const bool asks = lent->memory == nullptr;
  if (!asks) needed(call, "call");
  // A place that is too small: nothing is written to it.
  Workspace workspace{asks ? lent : lent->memory, 0, stream_of(lent->stream)};
  require_that(asks || lent->bytes >= 0, "a workspace of fewer than 0 bytes");
  if (!asks) workspace.bytes = static_cast<std::size_t>(lent->bytes);
  try {
    gradcast_call* made = make(workspace);
    *call = made;
  } catch (const WorkspaceTooSmall& small) {
    const std::int64_t given = lent->bytes;
    lent->bytes = static_cast<std::int64_t>(small.needed);
    require_that(asks, "a workspace of " + std::to_string(given) + " bytes, where " +
                           std::to_string(small.needed) + " are needed");
  }
}

}  // namespace
}  // namespace gradcast

using namespace gradcast;

const char* gradcast_device_error() { return last_error; }

const char* gradcast_device_kind() { return kKind; }

gradcast_status gradcast_run(gradcast_call* call, int32_t step, void* stream) {
  return guarded(__func__, [&] {
    const auto& steps = needed(call, "call")->steps;
    require_that(step >= 0 && step < static_cast<std::int64_t>(steps.size()),
                 "no step " + std::to_string(step) + ": there are " + std::to_string(steps.size()));
    [[maybe_unused]] const auto turn = turn_of_caller();
    steps[static_cast<std::size_t>(step)](stream_of(stream));
  });
}

gradcast_status gradcast_set_round(gradcast_call* call, uint64_t round, void* stream) {
  return guarded(__func__, [&] {
    require_that(static_cast<bool>(needed(call, "call")->set_round), "a decode draws nothing");
    [[maybe_unused]] const auto turn = turn_of_caller();
    call->set_round(round, stream_of(stream));
  });
}

void gradcast_release(gradcast_call* call) { delete call; }

gradcast_status gradcast_prepare_sparse_encode(const char* name,
                                               const gradcast_selection* selection,
                                               const gradcast_sparse_tensor* given, int64_t number,
                                               gradcast_workspace* workspace,
                                               gradcast_call** call) {
  return guarded(__func__, [&] {
    const Compressor& compressor = of_name(name);
    require_that(compressor.encode != nullptr,
                 std::string(compressor.name) + " selects no elements");
    const gradcast_selection& asked = *needed(selection, "selection");
    require_that(asked.candidates >= 0, "candidates are 0 or more");
    const ValueType type = value_type_for(asked.value_type);
    const Mode mode = mode_for(compressor, asked.mode);
    const auto threshold = static_cast<float>(parameter_for(compressor, asked.parameter));
    const auto tensors = each_of(given, number, "tensors", [&](const auto& t) {
      EncoderTensor tensor;
      tensor.gradient = gradient_of(t.gradient, t.gradient_type);
      tensor.residual = t.residual;
      tensor.elements = t.elements;
      tensor.k = compressor.family == Family::Dense ? t.elements : t.k;
      tensor.seed = t.seed;
      tensor.candidates = asked.candidates;
      tensor.values = type == ValueType::Fp32 ? static_cast<float*>(t.values) : nullptr;
      tensor.codes = type == ValueType::Fp32 ? nullptr : static_cast<std::uint16_t*>(t.values);
      tensor.indices = t.indices;
      tensor.capacity = t.capacity;
      tensor.count = t.count;
      tensor.status = t.notes;
      tensor.threshold = threshold;
      tensor.value_type = type;
      return tensor;
    });
    prepare(workspace, call, [&](const Workspace& lent) {
      const std::shared_ptr<Encoder> encoder =
          device::make_encoder(compressor.rule, mode, tensors, {}, lent);
      return call_of<Encoder>({[encoder](void* stream) { encoder->encode(stream); }}, encoder);
    });
  });
}

gradcast_status gradcast_prepare_sparse_decode(const gradcast_sparse_set* given, int64_t number,
                                               int32_t value_type, float factor, void* dense,
                                               int32_t dense_type, int64_t elements,
                                               gradcast_workspace* workspace,
                                               gradcast_call** call) {
  return guarded(__func__, [&] {
    const ValueType type = value_type_for(value_type);
    DecoderTensor tensor;
    tensor.dense = dense_of(dense, dense_type);
    tensor.elements = elements;
    tensor.factor = factor;
    tensor.sets =
        each_of(given, number, "sets", [&](const auto& its) { return set_of(its, type); });
    prepare(workspace, call, [&](const Workspace& lent) {
      const std::shared_ptr<Decoder> decoder = device::make_decoder({tensor}, lent);
      return call_of<Decoder>({[decoder](void* stream) { decoder->decode(stream); }}, decoder);
    });
  });
}

gradcast_status gradcast_prepare_sparse_merge(const gradcast_sparse_set* given, int64_t most,
                                              int64_t k, int32_t value_type, void* values,
                                              int32_t* indices, int64_t* count,
                                              gradcast_workspace* workspace, gradcast_call** call) {
  return guarded(__func__, [&] {
    const ValueType type = value_type_for(value_type);
    needed(given, "sets");
    MergedSets sets;
    sets.first = set_of(given[0], type);
    sets.second = set_of(given[1], type);
    sets.most = most;
    sets.k = k;
    needed(values, "values");
    sets.values = type == ValueType::Fp32 ? static_cast<float*>(values) : nullptr;
    sets.codes = type == ValueType::Fp32 ? nullptr : static_cast<std::uint16_t*>(values);
    sets.indices = needed(indices, "indices");
    sets.count = needed(count, "count");
    prepare(workspace, call, [&](const Workspace& lent) {
      const std::shared_ptr<Merger> merger = device::make_merger(sets, lent);
      return call_of<Merger>({[merger](void* stream) { merger->merge(stream); }}, merger);
    });
  });
}

gradcast_status gradcast_prepare_momentum(double momentum, const gradcast_momentum_tensor* given,
                                          int64_t number, gradcast_call** call) {
  return guarded(__func__, [&] {
    const auto factor = static_cast<float>(momentum);
    require_that(factor >= 0 && factor < 1, "a momentum is 0 to below 1");
    needed(call, "call");
    const auto tensors = each_of(given, number, "tensors", [&](const auto& t) {
      MomentumTensor tensor;
      tensor.gradient = gradient_of(t.gradient, t.gradient_type);
      tensor.velocity = t.velocity;
      tensor.elements = t.elements;
      tensor.indices = t.indices;
      tensor.count = t.count;
      return tensor;
    });
    const std::shared_ptr<Momentum> made = device::make_momentum(factor, tensors);
    *needed(call, "call") = call_of<Momentum>({[made](void* stream) { made->correct(stream); },
                                               [made](void* stream) { made->mask(stream); }},
                                              made);
  });
}

gradcast_status gradcast_prepare_pack_encode(const char* name, double parameter,
                                             const gradcast_pack_tensor* given, int64_t number,
                                             gradcast_workspace* workspace, gradcast_call** call) {
  return guarded(__func__, [&] {
    const Packed packed(name, parameter);
    const auto tensors = each_of(given, number, "tensors", [&](const auto& t) {
      PackerTensor tensor;
      tensor.gradient = gradient_of(t.gradient, t.gradient_type);
      tensor.residual = t.residual;
      tensor.elements = t.elements;
      tensor.seed = t.seed;
      tensor.packed = t.packed;
      tensor.status = t.notes;
      return tensor;
    });
    prepare(workspace, call, [&](const Workspace& lent) {
      const std::shared_ptr<Packer> packer =
          device::make_packer(packed.rule, packed.parameter, tensors, lent);
      return call_of<Packer>({[packer](void* stream) { packer->pack(stream); }}, packer);
    });
  });
}

gradcast_status gradcast_prepare_pack_decode(const char* name, double parameter, int64_t workers,
                                             float factor, const gradcast_unpack_tensor* given,
                                             int64_t number, gradcast_workspace* workspace,
                                             gradcast_call** call) {
  return guarded(__func__, [&] {
    const Packed packed(name, parameter);
    require_that(workers >= 1 && workers <= kMostWorkers, std::to_string(workers) + " workers");
    const auto tensors = each_of(given, number, "tensors", [&](const auto& t) {
      const std::uint32_t* const* payloads = needed(t.packed, "packed");
      UnpackerTensor tensor;
      tensor.dense = dense_of(t.dense, t.dense_type);
      tensor.elements = t.elements;
      tensor.factor = factor;
      tensor.payloads.assign(payloads, payloads + workers);
      return tensor;
    });
    prepare(workspace, call, [&](const Workspace& lent) {
      const std::shared_ptr<Unpacker> unpacker =
          device::make_unpacker(packed.rule, packed.parameter, tensors, lent);
      return call_of<Unpacker>({[unpacker](void* stream) { unpacker->unpack(stream); }}, unpacker);
    });
  });
}

gradcast_status gradcast_prepare_level_encode(const char* name, double parameter, int64_t workers,
                                              const gradcast_level_tensor* given, int64_t number,
                                              gradcast_workspace* workspace, gradcast_call** call) {
  return guarded(__func__, [&] {
    const Packed packed(name, parameter);
    const auto tensors = each_of(given, number, "tensors", [&](const auto& t) {
      LevelPackerTensor tensor;
      tensor.gradient = gradient_of(t.gradient, t.gradient_type);
      tensor.residual = t.residual;
      tensor.elements = t.elements;
      tensor.seed = t.seed;
      tensor.scale = t.scale;
      tensor.lanes = t.lanes;
      tensor.status = t.notes;
      return tensor;
    });
    prepare(workspace, call, [&](const Workspace& lent) {
      const std::shared_ptr<LevelPacker> packer =
          device::make_level_packer(packed.rule, packed.parameter, workers, tensors, lent);
      return call_of<LevelPacker>({[packer](void* stream) { packer->measure(stream); },
                                   [packer](void* stream) { packer->pack(stream); }},
                                  packer);
    });
  });
}

gradcast_status gradcast_prepare_level_decode(const char* name, double parameter, int64_t workers,
                                              float factor, const gradcast_level_tensor* given,
                                              int64_t number, gradcast_workspace* workspace,
                                              gradcast_call** call) {
  return guarded(__func__, [&] {
    const Packed packed(name, parameter);
    const auto tensors = each_of(given, number, "tensors", [&](const auto& t) {
      LevelUnpackerTensor tensor;
      tensor.factor = factor;
      tensor.dense = dense_of(t.gradient, t.gradient_type);
      tensor.elements = t.elements;
      tensor.scale = t.scale;
      tensor.lanes = t.lanes;
      return tensor;
    });
    prepare(workspace, call, [&](const Workspace& lent) {
      const std::shared_ptr<LevelUnpacker> unpacker =
          device::make_level_unpacker(packed.rule, packed.parameter, workers, tensors, lent);
      return call_of<LevelUnpacker>({[unpacker](void* stream) { unpacker->unpack(stream); }},
                                    unpacker);
    });
  });
}

gradcast_status gradcast_prepare_low_rank(const char* name, int64_t rank, int32_t mode,
                                          const gradcast_low_rank_tensor* given, int64_t number,
                                          gradcast_workspace* workspace, gradcast_call** call) {
  return guarded(__func__, [&] {
    const Compressor& compressor = of_name(name);
    require_that(compressor.low_rank != nullptr,
                 std::string(compressor.name) + " sends no thin matrices");
    parameter_for(compressor, static_cast<double>(rank));
    const Mode checked = mode_for(compressor, mode);
    const auto tensors = each_of(given, number, "tensors", [&](const auto& t) {
      require_that(t.rows >= 1 && t.columns >= 1 && t.rows <= kMostElements &&
                       t.columns <= kMostElements / t.rows,
                   "a matrix of " + std::to_string(t.rows) + " x " + std::to_string(t.columns) +
                       ": it has 1 to 2^31 - 1 elements");
      LowRankTensor tensor;
      tensor.gradient = gradient_of(t.gradient, t.gradient_type);
      tensor.residual = t.residual;
      tensor.shape = {t.rows, t.columns};
      tensor.seed = t.seed;
      tensor.p = t.p;
      tensor.q = t.q;
      tensor.dense = dense_of(t.dense, t.gradient_type);
      tensor.status = t.notes;
      return tensor;
    });
    prepare(workspace, call, [&](const Workspace& lent) {
      const std::shared_ptr<LowRankEncoder> encoder =
          device::make_low_rank_encoder(rank, checked, tensors, lent);
      return call_of<LowRankEncoder>({[encoder](void* stream) { encoder->first(stream); },
                                      [encoder](void* stream) { encoder->second(stream); },
                                      [encoder](void* stream) { encoder->finish(stream); }},
                                     encoder);
    });
  });
}
