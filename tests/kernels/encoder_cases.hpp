// One tensor, encoded once: the kernels against the reference, bit for bit. These cases and those
// of the headers beside it (batch_, call_, decoder_cases.hpp) are the same for CUDA
// (encoder_gpu_test.cpp) and for the emulator (encoder_emulated_test.cpp).
#pragma once
#include "tests/kernels/on_device.hpp"

namespace gradcast::cases {

/// Roads that an encode takes rarely or never by itself, each forced; the answer is the same.
struct Road {
  const char* what;
  EncoderTuning tuning;
};
inline std::vector<Road> all_roads() {
  return {{"as planned", {}},
          {"a slot a tile: nearly every tile overflows", {1, {}, 0}},
          {"a threshold of 0: every element is a candidate", {0, Key{0}, 0}},
          {"a threshold of 1: every non-zero is a candidate", {32, Key{1}, 0}},
          {"a NaN as threshold: hardly any candidate", {0, Key{0x7fc00000u}, 0}},
          {"the largest key as threshold: no candidate", {0, kLargestKey, 0}},
          {"room for half of a tile", {256, Key{1}, 0}},
          {"tiles whose candidates take two rows", {64, {}, 0}},
          {"one block", {0, {}, 1}},
          {"two blocks, a slot a tile", {1, {}, 2}},
          {"five blocks, too low a threshold", {2, Key{1}, 5}}};
}

/// Sizes that are cut into tiles and groups, with ends of every kind.
inline constexpr std::int64_t kTiledSizes[] = {8193, 16'384, 20'001, 65'537};

inline void check_every_case(Device& device, std::span<const std::int64_t> sizes,
                             std::size_t one_in) {
  for_each_case(sizes, one_in, [&](const Case& one, const Vectors& wide) {
    const Types types{one.type, gradient_type_of(one.selection.seed)};
    INFO(one << ", gradient in " << name_of(types.gradient));
    const Vectors vectors{in_type(wide.gradient, types.gradient), wide.residual};
    require_same(reference_answer(one.method, vectors, one.selection, -1, types.values),
                 device_answer(device, one.method, vectors, one.selection, {}, -1, {}, types));
  });
}

inline void check_every_road(Device& device, std::size_t one_in) {
  std::uint32_t seen = 0;
  for (const Road& road : all_roads())
    for_each_case(kTiledSizes, one_in, [&](const Case& one, const Vectors& wide) {
      const Types types{one.type, gradient_type_of(one.selection.seed)};
      INFO(road.what << ": " << one << ", gradient in " << name_of(types.gradient));
      const Vectors vectors{in_type(wide.gradient, types.gradient), wide.residual};
      const Answer answer =
          device_answer(device, one.method, vectors, one.selection, road.tuning, -1, {}, types);
      require_same(reference_answer(one.method, vectors, one.selection, -1, one.type), answer);
      seen |= answer.encoded.status;
    });
  CHECK((seen & kTilesReread) != 0);  // each road was really taken
  CHECK((seen & kFullReread) != 0);
  CHECK((seen & kGeneric) != 0);
}

/// Every compressor once, at a size that is too large for every case.
inline void check_size(Device& device, std::int64_t elements) {
  const Vectors vectors = make_vectors(Input::normal, elements, 1);
  for (const Method& method : all_methods()) {
    if (method.compressor->rule == Rule::Everything) continue;
    INFO(name_of(method) << ", " << elements << " elements");
    const Selection selection = selection_of(method, vectors, elements / 1000, 1);
    const std::int64_t room = elements / 100;  // ten times k: outputs as long as u take too long
    require_same(reference_answer(method, vectors, selection, room),
                 device_answer(device, method, vectors, selection, {}, room));
  }
}

/// Pointers off the alignment of four elements by 1, 2 and 3 of them.
inline void check_unaligned(Device& device) {
  for (const ValueType type : kGradientTypes)
    for (const Method& method : all_methods())
      for (const std::int64_t elements : {std::int64_t{1000}, std::int64_t{9000}})
        for (const auto& [gradient, residual] : {std::pair{1, 1}, {2, 2}, {3, 3}, {1, 0}, {2, 3}}) {
          INFO(name_of(method) << ", " << elements << " elements, gradient in " << name_of(type)
                               << " off by " << gradient << ", residual by " << residual);
          const Offsets offsets{static_cast<std::size_t>(gradient * bytes_of_value(type)),
                                static_cast<std::size_t>(4 * residual)};
          Vectors vectors = make_vectors(Input::normal, elements, 3);
          vectors.gradient = in_type(vectors.gradient, type);
          const Selection selection = selection_of(method, vectors, elements / 50, 7);
          require_same(reference_answer(method, vectors, selection),
                       device_answer(device, method, vectors, selection, {}, -1, offsets,
                                     {ValueType::Fp32, type}));
        }
}

/// If only some of many equal magnitudes are sent, they are those with the lowest indices. The
/// number of equals decides how they are told apart (Notes::list_rank, kListed).
inline void check_equals(Device& device) {
  constexpr std::int64_t kElements = 60'000;
  for (const char* name : {"topk", "dgc", "rtopk"})
    for (const std::int64_t equals : {2, 100, 600, 6000}) {
      INFO(name << ", " << equals << " equals");
      const Compressor* compressor = find_compressor(name);
      Vectors vectors = make_vectors(Input::normal, kElements, 3);
      std::fill(vectors.residual.begin(), vectors.residual.end(), 0.0f);
      // Every ninth element is 2 or -2, some 4.6 % of the others are larger.
      for (std::int64_t i = 0; i < equals; ++i)
        vectors.gradient[static_cast<std::size_t>(9 * i)] = i % 2 == 0 ? 2.0f : -2.0f;
      const auto larger = std::count_if(vectors.gradient.begin(), vectors.gradient.end(),
                                        [](float g) { return std::abs(g) > 2.0f; });
      const Method method{compressor, compressor->two_modes ? Mode::Code : Mode::Only};
      const std::int64_t wanted = larger + (equals + 1) / 3;
      const Selection selection{name == std::string("rtopk") ? wanted / 5 : wanted, method.mode, 7,
                                wanted};
      require_same(reference_answer(method, vectors, selection),
                   device_answer(device, method, vectors, selection));
    }
}

/// Tiles have room for their candidates: with ordinary gradients at most one in a hundred has too
/// many, whatever part is wanted.
inline void check_room(Device& device) {
  for (const Method& method : all_methods())
    for (const Input input : {Input::normal, Input::laplace})
      for (const double density : {0.001, 0.01, 0.05, 0.1}) {
        const Rule rule = method.compressor->rule;
        if (rule == Rule::Everything) continue;
        // rTop-k's r is half of the elements: it searches u instead.
        if (rule == Rule::Rtopk && density == 0.1) continue;
        constexpr std::int64_t kElements = 131'072;
        const Vectors vectors = make_vectors(input, kElements, 5);
        const Selection selection =
            selection_of(method, vectors, static_cast<std::int64_t>(density * kElements), 3);
        INFO(name_of(method) << ", density " << density << ", input " << static_cast<int>(input));
        DeviceTensor tensor(device, vectors, selection);
        const auto encoder =
            device.make_encoder(method.compressor->rule, method.mode, {tensor.describe()}, {}, {});
        encoder->encode(device.queue->stream());
        device.queue->wait();
        const EncoderWork work = encoder->work();
        CHECK(work.tiles == kElements / 512);
        CHECK(100 * work.tiles_reread <= work.tiles);
        CHECK(work.candidates >= selection.k);
      }
}

/// Elements that do not fit stay in the residual.
inline void check_capacity(Device& device) {
  for (const Method& method : all_methods())
    for (const std::int64_t elements : {std::int64_t{1000}, std::int64_t{20'001}})
      for (const std::int64_t capacity : {0, 1, 17}) {
        INFO(name_of(method) << ", " << elements << " elements, room for " << capacity);
        const Vectors vectors = make_vectors(Input::laplace, elements, 3);
        const Selection selection = selection_of(method, vectors, elements / 20, 7);
        require_same(reference_answer(method, vectors, selection, capacity),
                     device_answer(device, method, vectors, selection, {}, capacity));
      }
}

}  // namespace gradcast::cases
