#include "kernels/bench/device_bench.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "kernels/bench/sampling.hpp"
#include "kernels/bench/worker_sets.hpp"
#include "kernels/compressor.hpp"

namespace gradcast {
namespace {

/// Tensors begin at multiples of 64 elements (256 bytes), as an allocator would place them.
constexpr std::int64_t kPlace = 64;
constexpr const char* kCub = "cub";

std::int64_t sum(const std::vector<std::int64_t>& numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), std::int64_t{0});
}

/// Memory of the device, freed with its owner.
template <class T>
class Array {
 public:
  Array(DeviceQueue& queue, std::int64_t count)
      : queue_(queue),
        count_(static_cast<std::size_t>(std::max<std::int64_t>(count, 1))),
        memory_(static_cast<T*>(queue.allocate(count_ * sizeof(T)))) {}
  ~Array() { queue_.release(memory_); }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  T* get() const { return memory_; }
  std::size_t size() const { return count_; }

 private:
  DeviceQueue& queue_;
  std::size_t count_;
  T* memory_;
};

template <class T>
std::vector<T> downloaded(DeviceQueue& queue, const T* from, std::int64_t count) {
  std::vector<T> to(static_cast<std::size_t>(count));
  if (count > 0) queue.download(to.data(), from, to.size() * sizeof(T));
  return to;
}

/// Where tensors of these sizes begin, one after another, and the end.
std::vector<std::int64_t> places(const std::vector<std::int64_t>& sizes) {
  std::vector<std::int64_t> begins{0};
  for (const std::int64_t size : sizes)
    begins.push_back(begins.back() + (size + kPlace - 1) / kPlace * kPlace);
  return begins;
}

/// A point's tensors on the device, one after another, with room for what is selected.
class Tensors {
 public:
  Tensors(DeviceQueue& queue, GpuTimer& timer, const BenchPoint& point, bool exact)
      : queue_(queue),
        point_(point),
        begins_(places(point.tensors)),
        room_begins_(places(exact ? point.wanted : point.tensors)),
        gradient_(queue, begins_.back()),
        pristine_(queue, begins_.back()),
        residual_(queue, begins_.back()),
        values_(queue, room_begins_.back()),
        indices_(queue, room_begins_.back()),
        counts_(queue, static_cast<std::int64_t>(point.tensors.size())),
        statuses_(queue, static_cast<std::int64_t>(point.tensors.size())),
        exact_(exact) {
    timer.fill(gradient_.get(), begins_.back(), point.input, 2 * point.seed, sum(point.tensors));
    timer.fill(pristine_.get(), begins_.back(), point.input, 2 * point.seed + 1,
               sum(point.tensors));
    queue.wait();
  }

  /// Every call changes it, and a residual that grows from sample to sample is another input.
  void restore_residual() {
    queue_.copy(residual_.get(), pristine_.get(), residual_.size() * sizeof(float));
  }

  std::vector<EncoderTensor> describe() const {
    std::vector<EncoderTensor> tensors;
    for (std::size_t t = 0; t < point_.tensors.size(); ++t) {
      EncoderTensor tensor;
      tensor.gradient = gradient_.get() + begins_[t];
      tensor.residual = residual_.get() + begins_[t];
      tensor.elements = point_.tensors[t];
      tensor.k = point_.wanted[t];
      tensor.seed = point_.seed;
      tensor.values = values_.get() + room_begins_[t];
      tensor.indices = indices_.get() + room_begins_[t];
      tensor.capacity = exact_ ? point_.wanted[t] : point_.tensors[t];
      tensor.count = counts_.get() + t;
      tensor.status = statuses_.get() + t;
      tensors.push_back(tensor);
    }
    return tensors;
  }

  std::vector<WorkerSets::Set> selected() const {
    const auto tensors = static_cast<std::int64_t>(point_.tensors.size());
    const auto counts = downloaded(queue_, counts_.get(), tensors);
    std::vector<WorkerSets::Set> sets;
    for (std::size_t t = 0; t < point_.tensors.size(); ++t)
      sets.push_back({downloaded(queue_, values_.get() + room_begins_[t], counts[t]),
                      downloaded(queue_, indices_.get() + room_begins_[t], counts[t])});
    return sets;
  }

  std::uint32_t status() const {
    std::uint32_t all = 0;
    for (const std::uint32_t status :
         downloaded(queue_, statuses_.get(), static_cast<std::int64_t>(point_.tensors.size())))
      all |= status;
    return all;
  }

  /// For what is not counted on the device.
  void set_counts(const std::vector<std::int64_t>& counts) {
    queue_.upload(counts_.get(), counts.data(), counts.size() * sizeof(counts[0]));
    const std::vector<std::uint32_t> none(counts.size(), 0);
    queue_.upload(statuses_.get(), none.data(), none.size() * sizeof(none[0]));
  }

 private:
  DeviceQueue& queue_;
  const BenchPoint& point_;
  std::vector<std::int64_t> begins_, room_begins_;
  Array<float> gradient_, pristine_, residual_, values_;
  Array<std::int32_t> indices_;
  Array<std::int64_t> counts_;
  Array<std::uint32_t> statuses_;
  bool exact_;
};

/// Sets of all workers on the device, and the dense gradients that they are added into: a piece of
/// memory of each kind, for a model's tensors times its workers are many.
class DecodeInputs {
 public:
  DecodeInputs(DeviceQueue& queue, const BenchPoint& point, const WorkerSets& sets)
      : point_(point),
        distinct_(sets.distinct()),
        dense_begins_(places(point.tensors)),
        dense_(queue, dense_begins_.back()) {
    std::vector<float> values;
    std::vector<std::int32_t> indices;
    std::vector<std::int64_t> counts;
    for (std::size_t t = 0; t < point.tensors.size(); ++t)
      for (int worker = 0; worker < distinct_; ++worker) {
        const WorkerSets::Set& set = sets.of(t, worker);
        begins_.push_back(values.size());
        counts.push_back(static_cast<std::int64_t>(set.values.size()));
        values.insert(values.end(), set.values.begin(), set.values.end());
        indices.insert(indices.end(), set.indices.begin(), set.indices.end());
      }
    values_ = uploaded(queue, values);
    indices_ = uploaded(queue, indices);
    counts_ = uploaded(queue, counts);
  }

  std::vector<DecoderTensor> describe(int workers) const {
    std::vector<DecoderTensor> tensors;
    for (std::size_t t = 0; t < point_.tensors.size(); ++t) {
      DecoderTensor tensor{dense_.get() + dense_begins_[t], point_.tensors[t], {}};
      for (int worker = 0; worker < workers; ++worker) {
        const std::size_t which =
            t * static_cast<std::size_t>(distinct_) + static_cast<std::size_t>(worker % distinct_);
        tensor.sets.push_back({values_->get() + begins_[which], indices_->get() + begins_[which],
                               counts_->get() + which});
      }
      tensors.push_back(tensor);
    }
    return tensors;
  }

 private:
  template <class T>
  static std::unique_ptr<Array<T>> uploaded(DeviceQueue& queue, const std::vector<T>& from) {
    auto array = std::make_unique<Array<T>>(queue, static_cast<std::int64_t>(from.size()));
    if (!from.empty()) queue.upload(array->get(), from.data(), from.size() * sizeof(T));
    return array;
  }

  const BenchPoint& point_;
  int distinct_;
  std::vector<std::int64_t> dense_begins_;
  Array<float> dense_;
  std::vector<std::size_t> begins_;  // of each set's values and indices
  std::unique_ptr<Array<float>> values_;
  std::unique_ptr<Array<std::int32_t>> indices_;
  std::unique_ptr<Array<std::int64_t>> counts_;
};

/// Keys of what a set holds.
std::vector<Key> keys_of(const WorkerSets::Set& set) {
  std::vector<Key> keys;
  for (const float value : set.values) keys.push_back(magnitude_key(value));
  return keys;
}

/// How many of the exact k largest are among the selected; of elements equal to the last, any will
/// do.
std::int64_t found_of(const std::vector<Key>& exact, const std::vector<Key>& selected) {
  if (exact.empty()) return 0;
  const Key least = *std::min_element(exact.begin(), exact.end());
  const auto above = [&](Key key) { return key > least; };
  const auto equals_wanted = std::count(exact.begin(), exact.end(), least);
  const auto equals_selected = std::count(selected.begin(), selected.end(), least);
  return std::count_if(selected.begin(), selected.end(), above) +
         std::min(equals_wanted, equals_selected);
}

/// What an encode moves through memory, counted from what its kernels do (kernels/device), not read
/// off the device: the stream, the sample, a tile's notes, and looks back at u.
double bytes_of(double elements, double selected, std::uint32_t status) {
  constexpr double kTile = 1024;
  constexpr double kSector = 32;  // what a lone element costs
  const double sampled = std::min(elements / 32, 131072.0);
  const double looks_back = (status & kFullReread) != 0 ? 2 : 0;  // to count, and to send
  const double searches = (status & kGeneric) != 0 ? 3 : 0;
  return 12 * elements + 8 * sampled + elements / kTile * (3 * 4 + 3 * kSector) +
         selected * (8 + kSector) + 4 * elements * (looks_back + searches);
}

std::string path_of(std::uint32_t status) {
  if ((status & kGeneric) != 0) return "radix select";
  if ((status & kFullReread) != 0) return "u re-read";
  return (status & kTilesReread) != 0 ? "tiles re-read" : "fast";
}

class DeviceBench final : public Bench {
 public:
  explicit DeviceBench(DeviceBenchParts parts) : parts_(std::move(parts)) {}

  BenchDevice device() const override { return parts_.timer->device(); }

  std::vector<std::string> implementations(const std::string& compressor,
                                           Mode /*mode*/) const override {
    const Compressor* found = find_compressor(compressor);
    if (found == nullptr || found->rule == Rule::Everything) return {};
    if (found->rule == Rule::Topk && parts_.make_cub_topk != nullptr)
      return {parts_.implementation, kCub};
    return {parts_.implementation};
  }

  std::int64_t memory_needed(const BenchPoint& point) const override {
    const bool cub = point.implementation == kCub;
    const std::int64_t elements = sum(point.tensors);
    const std::int64_t places = kPlace * static_cast<std::int64_t>(point.tensors.size());
    const std::int64_t room = rule_of(point).exact_count ? sum(point.wanted) : elements;
    const int workers =
        point.workers.empty() ? 0 : *std::max_element(point.workers.begin(), point.workers.end());
    // Gradient, pristine, residual, dense; notes of tiles and segments; values and indices; CUB's
    // keys and indices twice, and its own scratch.
    return std::int64_t{16} * (elements + places) + elements / 2 + (std::int64_t{256} << 20) +
           (std::int64_t{256} << 10) * static_cast<std::int64_t>(point.tensors.size()) +
           8 * (room + places) +
           std::min(WorkerSets::kMostBytes, std::int64_t{8} * workers * sum(point.wanted)) +
           (cub ? std::int64_t{20} * elements : 0);
  }

  BenchResult measure(const BenchPoint& point, const BenchLimits& limits) override {
    const Compressor& compressor = rule_of(point);
    const bool exact =
        compressor.exact_count || (compressor.rule == Rule::Trimmed && point.mode == Mode::Paper);
    Tensors tensors(*parts_.queue, *parts_.timer, point, exact);
    BenchResult result;
    result.encode = point.implementation == kCub
                        ? time_cub(point, tensors, limits)
                        : time_encoder(compressor.rule, point.mode, tensors, limits);
    const std::vector<WorkerSets::Set> selected = tensors.selected();
    for (const WorkerSets::Set& set : selected)
      result.selected += static_cast<double>(set.values.size());
    if (point.implementation != kCub) {
      result.path = path_of(tensors.status());
      result.bytes =
          bytes_of(static_cast<double>(sum(point.tensors)), result.selected, tensors.status());
    }
    result.recall = recall(point, tensors, selected);
    if (!point.workers.empty()) time_decoders(point, selected, limits, result);
    return result;
  }

  BenchTiming ceiling(std::int64_t elements, const BenchLimits& limits) override {
    Array<float> gradient(*parts_.queue, elements);
    Array<float> residual(*parts_.queue, elements);
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

  /// `prepare` and the eviction keep the device busy while what is timed is enqueued, so that the
  /// host's share of a launch is not measured: in training the host runs ahead as well.
  BenchTiming time(const std::function<void()>& prepare, const std::function<void()>& enqueue,
                   const BenchLimits& limits) {
    GpuTimer& timer = *parts_.timer;
    const auto sample = [&] {
      prepare();
      timer.evict();
      timer.begin();
      enqueue();
      timer.end();
      const double seconds = timer.seconds();
      return timer.throttled() ? -seconds : seconds;
    };
    return take_samples(sample, limits);
  }

  /// One replay of the recorded launches, as a training loop that captures its iteration has them.
  BenchTiming time_recorded(const std::function<void()>& prepare,
                            const std::function<void()>& enqueue, const BenchLimits& limits) {
    enqueue();  // what is loaded on the first call is loaded now
    parts_.queue->wait();
    const std::unique_ptr<Recording> recording = parts_.queue->record(enqueue);
    return time(prepare, recording ? [&] { recording->replay(); } : enqueue, limits);
  }

  BenchTiming time_encoder(Rule rule, Mode mode, Tensors& tensors, const BenchLimits& limits) {
    const auto encoder = parts_.make_encoder(rule, mode, tensors.describe(), {});
    tensors.restore_residual();
    return time_recorded([&] { tensors.restore_residual(); },
                         [&] { encoder->encode(parts_.queue->stream()); }, limits);
  }

  BenchTiming time_cub(const BenchPoint& point, Tensors& tensors, const BenchLimits& limits) {
    std::vector<std::unique_ptr<CubTopk>> calls;
    for (const EncoderTensor& tensor : tensors.describe())
      calls.push_back(parts_.make_cub_topk(tensor.gradient, tensor.residual, tensor.elements,
                                           tensor.k, tensor.values, tensor.indices));
    tensors.set_counts(point.wanted);
    tensors.restore_residual();
    return time_recorded([&] { tensors.restore_residual(); },
                         [&] {
                           for (const auto& call : calls) call->encode(parts_.queue->stream());
                         },
                         limits);
  }

  /// Against exact Top-k, which takes the outputs' place.
  double recall(const BenchPoint& point, Tensors& tensors,
                const std::vector<WorkerSets::Set>& selected) {
    const auto encoder = parts_.make_encoder(Rule::Topk, Mode::Only, tensors.describe(), {});
    tensors.restore_residual();
    encoder->encode(parts_.queue->stream());
    parts_.queue->wait();
    const std::vector<WorkerSets::Set> exact = tensors.selected();
    std::int64_t found = 0;
    for (std::size_t t = 0; t < exact.size(); ++t)
      found += found_of(keys_of(exact[t]), keys_of(selected[t]));
    const std::int64_t wanted = sum(point.wanted);
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
      const auto decoder = parts_.make_decoder(inputs.describe(workers));
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
