// Call after call on one encoder: the state that it keeps for the next call changes no answer.
#pragma once
#include "tests/kernels/on_device.hpp"

namespace gradcast::cases {

/// A threshold that no longer fits is found anew by the next call.
inline void check_new_guesses(Device& device) {
  const std::int64_t elements = 150'000;  // two blocks of samples
  const Method method{find_compressor("topk"), Mode::Only};
  Vectors vectors = make_vectors(Input::normal, elements, 1);
  std::fill(vectors.residual.begin(), vectors.residual.end(), 0.0f);
  DeviceTensor tensor(device, vectors, {150, Mode::Only, 3, 0});
  const auto encoder = device.make_encoder(Rule::Topk, Mode::Only, {tensor.describe()}, {}, {});
  for (const float scale : {1.0f, 1e-3f, 1e3f})
    for (int call = 0; call < 2; ++call) {
      INFO("scale " << scale << ", call " << call);
      Vectors scaled = vectors;
      for (float& value : scaled.gradient) value *= scale;
      tensor.set_gradient(scaled.gradient);
      tensor.set_residual(scaled.residual);
      encoder->encode(device.queue->stream());
      device.queue->wait();
      const Answer answer = tensor.answer();
      require_same(reference_answer(method, scaled, {150, Mode::Only, 3, 0}), answer);
      if (call == 1) CHECK((answer.encoded.status & ~kResultStatus) == 0);  // by a new guess
    }
}

/// Iteration after iteration on one encoder: it leaves its scratch memory fit for the next call,
/// and the round changes what is drawn.
inline void check_iterations(Device& device, bool recorded) {
  for (const Method& method : all_methods()) {
    const std::int64_t elements = 30'000;
    Vectors vectors = make_vectors(Input::normal, elements, 1);
    Selection selection = selection_of(method, vectors, 300, 11);
    DeviceTensor tensor(device, vectors, selection);
    const auto encoder =
        device.make_encoder(method.compressor->rule, method.mode, {tensor.describe()}, {}, {});
    std::unique_ptr<Recording> recording;
    if (recorded) {
      recording = device.queue->record([&] { encoder->encode(device.queue->stream()); });
      REQUIRE(recording);
    }
    for (std::uint64_t round = 0; round < 4; ++round) {
      INFO(name_of(method) << ", round " << round);
      selection.seed = 11 + round;
      const Answer expected = reference_answer(method, vectors, selection);
      encoder->set_round(round, device.queue->stream());
      if (recording) recording->replay();
      if (!recording) encoder->encode(device.queue->stream());
      device.queue->wait();
      require_same(expected, tensor.answer());
      vectors.residual = expected.residual;
      vectors.gradient =
          make_vectors(Input::laplace, elements, 50 + static_cast<std::uint32_t>(round)).gradient;
      tensor.set_gradient(vectors.gradient);
    }
  }
}

/// The case that guesses are made for: on ordinary gradients the candidates suffice, call after
/// call.
inline void check_fast_road(Device& device) {
  for (const Method& method : all_methods()) {
    if (method.compressor->rule == Rule::Everything) continue;
    // The authors' Trimmed Top-k sends several times k: from below what was caught.
    if (method.compressor->rule == Rule::Trimmed && method.mode == Mode::Code) continue;
    const Vectors vectors = make_vectors(Input::normal, 300'000, 1);
    const Selection selection = selection_of(method, vectors, 300, 3);
    DeviceTensor tensor(device, vectors, selection);
    const auto encoder =
        device.make_encoder(method.compressor->rule, method.mode, {tensor.describe()}, {}, {});
    for (int call = 0; call < 3; ++call) {
      INFO(name_of(method) << ", call " << call);
      tensor.set_residual(vectors.residual);
      encoder->encode(device.queue->stream());
      device.queue->wait();
      CHECK((tensor.answer().encoded.status & (kFullReread | kGeneric)) == 0);
    }
  }
}

}  // namespace gradcast::cases
