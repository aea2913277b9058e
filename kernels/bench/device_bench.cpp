#include "kernels/bench/device_bench.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "kernels/bench/call_tally.hpp"
#include "kernels/bench/device_inputs.hpp"
#include "kernels/bench/sampling.hpp"
#include "kernels/bench/worker_payloads.hpp"
#include "kernels/compressor.hpp"
#include "kernels/floor_bytes.hpp"

namespace gradcast {
namespace {

constexpr const char* kCub = "cub";

/// Keys of what a set holds.
std::vector<Key> keys_of(const WorkerSets::Set& set) {
  std::vector<Key> keys;
  for (const float value : set.values) keys.push_back(magnitude_key(value));
  return keys;
}

/// The number of selected elements that are among the exact k largest. Any element that equals the
/// last counts, up to their number there.
std::int64_t found_of(const std::vector<Key>& exact, const std::vector<Key>& selected) {
  if (exact.empty()) return 0;
  const Key least = *std::min_element(exact.begin(), exact.end());
  const auto above = [&](Key key) { return key > least; };
  const auto equals_wanted = std::count(exact.begin(), exact.end(), least);
  const auto equals_selected = std::count(selected.begin(), selected.end(), least);
  return std::count_if(selected.begin(), selected.end(), above) +
         std::min(equals_wanted, equals_selected);
}

class DeviceBench final : public Bench {
 public:
  explicit DeviceBench(DeviceBenchParts parts) : parts_(std::move(parts)) {}

  BenchDevice device() const override { return parts_.timer->device(); }

  std::vector<std::string> implementations(const std::string& compressor,
                                           Mode /*mode*/) const override {
    const Compressor* found = find_compressor(compressor);
    if (found == nullptr) return {};
    if (found->family == Family::Dense) return {};
    if (found->rule == Rule::Topk && parts_.make_cub_topk != nullptr)
      return {parts_.implementation, kCub};
    return {parts_.implementation};
  }

  std::int64_t memory_needed(const BenchPoint& point) const override {
    const bool cub = point.implementation == kCub;
    const std::int64_t elements = total(point.tensors);
    const std::int64_t places = kPlace * static_cast<std::int64_t>(point.tensors.size());
    // Gradient, pristine, residual, dense; what is packed and its copies; moments (24 bytes of 1024
    // elements, and a little more for their sums).
    if (const Packing* packing = rule_of(point).packing; packing != nullptr)
      return std::int64_t{16} * (elements + places) +
             4 * (payload_words(*packing, point) + places) + payload_bytes(*packing, point) +
             elements / 32 + (std::int64_t{256} << 20);
    // Gradient, pristine, residual, dense; P and Q, which are no larger together than the gradient;
    // their columns apart, in doubles, and parts of their sums.
    if (rule_of(point).low_rank != nullptr)
      return std::int64_t{16} * (elements + places) +
             std::int64_t{4 + 8 + 4} * (elements + 2 * places) + (std::int64_t{256} << 20);
    const std::int64_t room = rule_of(point).exact_count ? total(point.wanted) : elements;
    const int workers =
        point.workers.empty() ? 0 : *std::max_element(point.workers.begin(), point.workers.end());
    // Gradient, pristine, residual, dense; slots and notes of tiles (256 slots of 8 bytes in 512
    // elements where very much is wanted), notes of segments; values and indices; CUB's keys and
    // indices twice, and its own scratch.
    return std::int64_t{16} * (elements + places) + elements / 2 * 9 + (std::int64_t{256} << 20) +
           (std::int64_t{256} << 10) * static_cast<std::int64_t>(point.tensors.size()) +
           8 * (room + places) +
           std::min(WorkerSets::kMostBytes, std::int64_t{8} * workers * total(point.wanted)) +
           (cub ? std::int64_t{20} * elements : 0);
  }

  BenchResult measure(const BenchPoint& point, const BenchLimits& limits) override {
    BenchResult result = measured(point, limits);
    if (point.input_type != ValueType::Fp32) result.bytes = 0;  // those counted are of fp32
    return result;
  }

  BenchTiming ceiling(std::int64_t elements, const BenchLimits& limits) override {
    DeviceArray<float> gradient(*parts_.queue, elements);
    DeviceArray<float> residual(*parts_.queue, elements);
    parts_.timer->fill(gradient.get(), elements, Input::normal, 2, elements);
    parts_.timer->fill(residual.get(), elements, Input::normal, 3, elements);
    return time_recorded(
        [] {}, [&] { parts_.timer->add(gradient.get(), residual.get(), elements); }, limits);
  }

 private:
  static const Compressor& rule_of(const BenchPoint& point) {
    const Compressor* compressor = find_compressor(point.compressor);
    if (compressor == nullptr)
      throw std::logic_error("no compressor '" + point.compressor + "' to time");
    return *compressor;
  }

  BenchResult measured(const BenchPoint& point, const BenchLimits& limits) {
    const Compressor& compressor = rule_of(point);
    if (compressor.packing != nullptr) return measure_packs(compressor, point, limits);
    if (compressor.low_rank != nullptr) return measure_low_rank(point, limits);
    const bool exact =
        compressor.exact_count || (compressor.rule == Rule::Trimmed && point.mode == Mode::Paper);
    DeviceTensors tensors(*parts_.queue, *parts_.timer, point, exact);
    BenchResult result;
    if (point.implementation == kCub)
      time_cub(point, tensors, limits, result);
    else
      time_encoder(compressor.rule, point, tensors, limits, result);
    const std::vector<WorkerSets::Set> selected = tensors.selected();
    result.recall = recall(point, tensors, selected);
    if (!point.workers.empty()) time_decoders(point, selected, limits, result);
    return result;
  }

  using Step = std::function<void()>;

  /// `prepare` and the eviction keep the device busy while what is timed is enqueued, so that the
  /// host's share of a launch is not measured: in training the host runs ahead as well. `answered`
  /// is called after each sample but the first, which does not count.
  BenchTiming time(const Step& prepare, const Step& enqueue, const BenchLimits& limits,
                   const Step& answered) {
    GpuTimer& timer = *parts_.timer;
    bool counts = false;
    const auto sample = [&] {
      prepare();
      timer.evict();
      timer.begin();
      enqueue();
      timer.end();
      const double seconds = timer.seconds();
      const bool throttled = timer.throttled();
      if (std::exchange(counts, true) && answered) answered();
      return throttled ? -seconds : seconds;
    };
    return take_samples(sample, limits);
  }

  /// One replay of the recorded launches, as in a training loop that captures its iteration.
  BenchTiming time_recorded(const Step& prepare, const Step& enqueue, const BenchLimits& limits,
                            const Step& answered = {}) {
    enqueue();  // what is loaded on the first call is loaded now
    parts_.queue->wait();
    const std::unique_ptr<Recording> recording = parts_.queue->record(enqueue);
    return time(prepare, recording ? [&] { recording->replay(); } : enqueue, limits, answered);
  }

  /// A packer keeps nothing from call to call; its inputs drift as an encoder's do. Its bytes are
  /// the floor's, which its kernels keep to; not counted are moments, and what int8 reads again of
  /// blocks that registers do not hold.
  BenchResult measure_packs(const Compressor& compressor, const BenchPoint& point,
                            const BenchLimits& limits) {
    void* const stream = parts_.queue->stream();
    DevicePacks packs(*parts_.queue, *parts_.timer, point, compressor);
    const PackRule rule = compressor.packing->rule;
    BenchResult result;
    result.selected = static_cast<double>(total(point.tensors));
    result.recall = 1;
    for (const std::int64_t elements : point.tensors)
      result.bytes += encode_floor_bytes(compressor, point.parameter, elements);
    {
      const auto packer = parts_.make_packer(rule, point.parameter, packs.describe(), {});
      std::int64_t turn = 0;
      result.encode = time_recorded(
          [&] {
            packer->set_round(static_cast<std::uint64_t>(++turn), stream);
            packs.drift_to(turn);
          },
          [&] { packer->pack(stream); }, limits);
      parts_.queue->wait();
    }
    if (point.workers.empty()) return result;
    packs.prepare_unpack(*std::max_element(point.workers.begin(), point.workers.end()));
    for (const int workers : point.workers) {
      const auto unpacker =
          parts_.make_unpacker(rule, point.parameter, packs.describe_unpack(workers), {});
      result.decode.push_back(time_recorded([] {}, [&] { unpacker->unpack(stream); }, limits));
    }
    return result;
  }

  /// Encode is everything before the last message leaves: both products, without the all-reduce
  /// between them. Decode is the third. Q is kept from call to call, as in training.
  BenchResult measure_low_rank(const BenchPoint& point, const BenchLimits& limits) {
    void* const stream = parts_.queue->stream();
    DeviceLowRank matrices(*parts_.queue, *parts_.timer, point);
    const auto encoder = parts_.make_low_rank_encoder(static_cast<std::int64_t>(point.parameter),
                                                      point.mode, matrices.describe(), {});
    BenchResult result;
    result.selected = static_cast<double>(total(point.tensors));
    result.recall = 1;
    for (const MatrixShape& shape : point.shapes)
      result.bytes += encode_floor_bytes(
          {shape, static_cast<std::int64_t>(point.parameter), point.mode, point.seed});
    std::int64_t turn = 0;
    const auto both = [&] {
      encoder->first(stream);
      encoder->second(stream);
    };
    result.encode = time_recorded(
        [&] {
          encoder->set_round(static_cast<std::uint64_t>(++turn), stream);
          matrices.drift_to(turn);
        },
        both, limits);
    if (point.workers.empty()) return result;
    // Decode receives one sum, whatever the number of workers. Each call has a new u.
    const BenchTiming decode = time_recorded(
        [&] {
          matrices.drift_to(++turn);
          both();
        },
        [&] { encoder->finish(stream); }, limits);
    result.decode.assign(point.workers.size(), decode);
    return result;
  }

  /// Leaves the selection of turn 0 in `tensors`.
  void time_encoder(Rule rule, const BenchPoint& point, DeviceTensors& tensors,
                    const BenchLimits& limits, BenchResult& result) {
    void* const stream = parts_.queue->stream();
    const Step restore = [&] { tensors.restore_residual(); };
    if (rule == Rule::Threshold) {
      encode_topk(tensors);
      tensors.set_thresholds_by_values();
    }
    {
      const auto encoder = parts_.make_encoder(rule, point.mode, tensors.describe(), {}, {});
      const Step encode = [&] { encoder->encode(stream); };
      const auto turn_to = [&](std::int64_t turn) {
        encoder->set_round(static_cast<std::uint64_t>(turn), stream);
        tensors.drift_to(turn);
      };
      CallTally tally(static_cast<double>(total(point.tensors)), rule);
      std::int64_t turn = 0;
      result.encode =
          time_recorded([&] { turn_to(++turn); }, encode, limits,
                        [&] { tally.add(tensors.count(), tensors.status(), encoder->work()); });
      result.selected = tally.selected();
      result.bytes = tally.bytes();
      result.path = tally.path();
      turn_to(0);
      encode();
      if (point.warm_and_cold) result.warm = time_recorded(restore, encode, limits);
      parts_.queue->wait();
    }  // makes room for the other encoder's scratch memory
    if (!point.warm_and_cold) return;
    EncoderTuning samples_always;
    samples_always.sample_always = true;
    const auto encoder =
        parts_.make_encoder(rule, point.mode, tensors.describe(), samples_always, {});
    result.cold = time_recorded(
        restore, [&] { encoder->encode(stream); }, limits);
  }

  /// CUB keeps nothing from call to call. It gets the same inputs as an encoder.
  void time_cub(const BenchPoint& point, DeviceTensors& tensors, const BenchLimits& limits,
                BenchResult& result) {
    std::vector<std::unique_ptr<CubTopk>> calls;
    for (const EncoderTensor& tensor : tensors.describe())
      calls.push_back(parts_.make_cub_topk(tensor.gradient.floats(), tensor.residual,
                                           tensor.elements, tensor.k, tensor.values,
                                           tensor.indices));
    const Step encode = [&] {
      for (const auto& call : calls) call->encode(parts_.queue->stream());
    };
    tensors.set_counts(point.wanted);
    std::int64_t turn = 0;
    result.encode = time_recorded([&] { tensors.drift_to(++turn); }, encode, limits);
    result.selected = static_cast<double>(tensors.count());
    tensors.drift_to(0);
    encode();
    parts_.queue->wait();
  }

  /// Leaves exact Top-k of turn 0 in `tensors`.
  void encode_topk(DeviceTensors& tensors) {
    const auto encoder = parts_.make_encoder(Rule::Topk, Mode::Only, tensors.describe(), {}, {});
    tensors.drift_to(0);
    encoder->encode(parts_.queue->stream());
    parts_.queue->wait();
  }

  /// Recall of the selection of turn 0 against exact Top-k, which overwrites the outputs.
  double recall(const BenchPoint& point, DeviceTensors& tensors,
                const std::vector<WorkerSets::Set>& selected) {
    encode_topk(tensors);
    const std::vector<WorkerSets::Set> exact = tensors.selected();
    std::int64_t found = 0;
    for (std::size_t t = 0; t < exact.size(); ++t)
      found += found_of(keys_of(exact[t]), keys_of(selected[t]));
    const std::int64_t wanted = total(point.wanted);
    return wanted > 0 ? static_cast<double>(found) / static_cast<double>(wanted) : 1;
  }

  void time_decoders(const BenchPoint& point, const std::vector<WorkerSets::Set>& selected,
                     const BenchLimits& limits, BenchResult& result) {
    std::vector<WorkerSets::Set> rising = selected;
    for (WorkerSets::Set& set : rising) sort_by_index(set);
    std::vector<SparseSet> views;
    views.reserve(rising.size());
    for (const WorkerSets::Set& set : rising) views.push_back({set.values, set.indices});
    const int most = *std::max_element(point.workers.begin(), point.workers.end());
    const DecodeInputs inputs(*parts_.queue, point, WorkerSets(point.tensors, views, most));
    for (const int workers : point.workers) {
      const auto decoder = parts_.make_decoder(inputs.describe(workers), {});
      result.decode.push_back(
          time_recorded([] {}, [&] { decoder->decode(parts_.queue->stream()); }, limits));
    }
  }

  /// CUB's come by magnitude.
  static void sort_by_index(WorkerSets::Set& set) {
    if (std::is_sorted(set.indices.begin(), set.indices.end())) return;
    std::vector<std::size_t> order(set.indices.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return set.indices[a] < set.indices[b]; });
    WorkerSets::Set sorted;
    for (const std::size_t at : order) {
      sorted.values.push_back(set.values[at]);
      sorted.indices.push_back(set.indices[at]);
    }
    set = std::move(sorted);
  }

  DeviceBenchParts parts_;
};

}  // namespace

std::unique_ptr<Bench> make_device_bench(DeviceBenchParts parts) {
  return std::make_unique<DeviceBench>(std::move(parts));
}

}  // namespace gradcast
