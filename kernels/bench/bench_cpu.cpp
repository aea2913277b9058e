// The CPU reference, timed. One thread, as the reference runs.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <stdexcept>

#include "kernels/bench/bench.hpp"
#include "kernels/bench/cpu_call.hpp"
#include "kernels/bench/device_slug.hpp"
#include "kernels/bench/sampling.hpp"
#include "kernels/bench/worker_payloads.hpp"
#include "kernels/compressor.hpp"

namespace gradcast {
namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

template <class Body>
double seconds_of(Body body) {
  const double begin = steady_seconds();
  body();
  return steady_seconds() - begin;
}

/// The value of a line of /proc/cpuinfo.
std::string cpuinfo(const std::string& key) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.compare(0, key.size(), key) == 0)
      if (const std::size_t colon = line.find(": "); colon != std::string::npos)
        return line.substr(colon + 2);
  return {};
}

std::string compiler() {
#ifdef __clang__
  return "clang++ " + std::to_string(__clang_major__) + "." + std::to_string(__clang_minor__) +
         "." + std::to_string(__clang_patchlevel__);
#else
  return "g++ " + std::to_string(__GNUC__) + "." + std::to_string(__GNUC_MINOR__) + "." +
         std::to_string(__GNUC_PATCHLEVEL__);
#endif
}

/// Four fifths of the memory that is free now. The rest is left to the system.
std::int64_t usable_memory() {
  std::ifstream file("/proc/meminfo");
  for (std::string line; std::getline(file, line);)
    if (line.compare(0, 13, "MemAvailable:") == 0)
      return std::strtoll(line.c_str() + 13, nullptr, 10) * 1024 / 5 * 4;
  return static_cast<std::int64_t>(::sysconf(_SC_PHYS_PAGES)) * ::sysconf(_SC_PAGESIZE) / 2;
}

/// Overwriting this leaves nothing of a tensor in the cache: twice the last level, but not more
/// than 64 MiB, which a sample may cost (10 ms); a virtual machine's last level is other guests'
/// too.
class ColdCache {
 public:
  ColdCache() : bytes_(static_cast<std::size_t>(size())) {}

  void evict() {
    std::memset(bytes_.data(), ++value_, bytes_.size());
    // Otherwise the compiler would see that nobody reads the bytes, and leave this out.
    asm volatile("" : : "r"(bytes_.data()) : "memory");
  }

  static std::int64_t size() {
    const std::int64_t last_level = ::sysconf(_SC_LEVEL3_CACHE_SIZE);
    return last_level > 0 ? std::min(2 * last_level, 64 * kMiB) : 64 * kMiB;
  }

 private:
  std::vector<unsigned char> bytes_;
  unsigned char value_ = 0;
};

/// Gradient and residual, kept from point to point: all tensors of a point are slices of one
/// vector, and most inputs of a longer vector begin with the shorter one's elements.
class Inputs {
 public:
  void make(Input input, std::uint32_t seed, std::int64_t elements) {
    // In these inputs an element depends on the number of elements.
    const bool by_length = input == Input::descending || input == Input::hot_block;
    if (recorded_ || input != input_ || seed != seed_ || (by_length && elements != size())) {
      gradient_.clear();
      residual_.clear();
    }
    recorded_ = false;
    input_ = input;
    seed_ = seed;
    gradient_.reserve(static_cast<std::size_t>(elements));
    residual_.reserve(static_cast<std::size_t>(elements));
    for (std::int64_t i = size(); i < elements; ++i) {
      gradient_.push_back(input_element(input, 2 * seed, elements, i));
      residual_.push_back(input_element(input, 2 * seed + 1, elements, i));
    }
  }

  void take(const std::shared_ptr<const RecordedInput>& recorded, std::int64_t elements) {
    gradient_.assign(recorded->u.begin(), recorded->u.begin() + elements);
    residual_.assign(gradient_.size(), 0.0f);
    recorded_ = true;
  }

  std::span<const float> gradient() const { return gradient_; }
  std::span<const float> residual() const { return residual_; }

 private:
  std::int64_t size() const { return static_cast<std::int64_t>(gradient_.size()); }

  bool recorded_ = false;
  Input input_ = Input::normal;
  std::uint32_t seed_ = 0;
  std::vector<float> gradient_;
  std::vector<float> residual_;
};

/// The end of exact Top-k: the least key it takes, and how many elements have larger ones.
struct ExactCut {
  Key least = 0;
  std::int64_t above = 0;
};

/// Two histograms instead of a sort: 16 leading bits of the key, then the other 15.
ExactCut exact_cut(std::span<const float> gradient, std::span<const float> residual,
                   std::int64_t k) {
  constexpr int kLowBits = 15;
  std::vector<std::int64_t> high(std::size_t{1} << 16);
  std::vector<std::int64_t> low(std::size_t{1} << kLowBits);
  const auto key = [&](std::size_t i) {
    return magnitude_key(add_feedback(gradient[i], residual[i]));
  };
  ExactCut cut;
  const auto last_taken = [&](const std::vector<std::int64_t>& counts) {
    std::size_t bin = counts.size() - 1;
    while (bin > 0 && cut.above + counts[bin] < k) cut.above += counts[bin--];
    return static_cast<Key>(bin);
  };
  for (std::size_t i = 0; i < gradient.size(); ++i) ++high[key(i) >> kLowBits];
  const Key leading = last_taken(high);
  for (std::size_t i = 0; i < gradient.size(); ++i)
    if (key(i) >> kLowBits == leading) ++low[key(i) & ((1u << kLowBits) - 1)];
  cut.least = leading << kLowBits | last_taken(low);
  return cut;
}

/// One tensor's place in the point's vectors.
struct Slice {
  std::size_t begin = 0;
  std::size_t elements = 0;
  std::int64_t k = 0;
  float threshold = 0;  // that k elements pass; only of a compressor with a fixed one
};

std::vector<Slice> slices_of(const BenchPoint& point) {
  if (point.tensors.size() != point.wanted.size())
    throw std::logic_error("a point has as many k as tensors");
  std::vector<Slice> slices;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < point.tensors.size(); ++i) {
    const auto elements = static_cast<std::size_t>(point.tensors[i]);
    slices.push_back({begin, elements, point.wanted[i], 0});
    begin += elements;
  }
  return slices;
}

class CpuBench : public Bench {
 public:
  BenchDevice device() const override {
    BenchDevice device;
    device.name = cpuinfo("model name");
    if (device.name.empty()) device.name = "CPU";
    device.slug = device_slug(device.name);
    device.toolkit = compiler();
    const std::string clock = cpuinfo("cpu MHz");
    device.clocks = clock.empty() ? "unknown"
                                  : std::to_string(std::lround(std::stod(clock))) +
                                        " MHz at the start, one thread";
    device.memory_bytes = usable_memory();
    return device;
  }

  std::vector<std::string> implementations(const std::string& compressor,
                                           Mode /*mode*/) const override {
    const Compressor* found = find_compressor(compressor);
    if (found == nullptr || found->family == Family::Dense) return {};
    return {"gradcast-cpu"};
  }

  std::int64_t memory_needed(const BenchPoint& point) const override {
    const Compressor* compressor = find_compressor(point.compressor);
    // Gradient, pristine residual, residual, decoded; u, and what is packed of it; the payloads.
    if (compressor != nullptr && compressor->packing != nullptr)
      return total(point.tensors) * (4 * 4 + 4 + 4) + payload_bytes(*compressor->packing, point) +
             64 * kMiB;
    // Gradient, pristine residual, residual, decoded; values and indices; keys that the reference
    // puts in order (8 bytes an element at most); the sets. PowerSGD has P and Q instead, which are
    // no larger.
    const int most =
        point.workers.empty() ? 0 : *std::max_element(point.workers.begin(), point.workers.end());
    return total(point.tensors) * (4 * 4 + 8 + 8) +
           std::min(WorkerSets::kMostBytes, std::int64_t{8} * most * total(point.wanted)) +
           64 * kMiB;
  }

  BenchResult measure(const BenchPoint& point, const BenchLimits& limits) override {
    const Compressor* compressor = find_compressor(point.compressor);
    if (compressor == nullptr)
      throw std::logic_error("the CPU cannot run compressor '" + point.compressor + "'");
    std::vector<Slice> slices = slices_of(point);
    prepare(point);
    if (compressor->rule == Rule::Threshold)
      for (Slice& slice : slices) slice.threshold = threshold_below(exact_cut_of(slice).least);
    if (const auto call = make_cpu_call(*compressor, point))
      return measure_call(*call, point, limits);
    values_.resize(residual_.size());
    indices_.resize(residual_.size());

    BenchResult result;
    std::vector<SparseSet> selected(slices.size());
    result.encode = take_samples(
        [&] {
          restore_residual();
          cold_.evict();
          return seconds_of([&] { encode(*compressor, point, slices, selected); });
        },
        limits);
    for (const SparseSet& set : selected)
      result.selected += static_cast<double>(set.indices.size());
    result.recall = recall(slices, selected);
    if (!point.workers.empty()) decode_all(point, slices, selected, limits, result);
    return result;
  }

  /// Times a compressor that selects nothing: every element travels in some way.
  BenchResult measure_call(CpuCall& call, const BenchPoint& point, const BenchLimits& limits) {
    BenchResult result;
    result.selected = static_cast<double>(residual_.size());
    result.recall = 1;
    result.encode = take_samples(
        [&] {
          restore_residual();
          cold_.evict();
          return seconds_of([&] { call.encode(inputs_.gradient(), residual_); });
        },
        limits);
    if (point.workers.empty()) return result;
    call.prepare_decode(*std::max_element(point.workers.begin(), point.workers.end()));
    for (const int workers : point.workers) {
      if (!call.decodes_each_worker() && !result.decode.empty()) {
        result.decode.push_back(result.decode.front());
        continue;
      }
      result.decode.push_back(take_samples(
          [&] {
            cold_.evict();
            return seconds_of([&] { call.decode(workers, residual_); });
          },
          limits));
    }
    return result;
  }

  BenchTiming ceiling(std::int64_t elements, const BenchLimits& limits) override {
    prepare(Input::normal, 1, elements);
    restore_residual();
    return take_samples(
        [&] {
          cold_.evict();
          return seconds_of([&] {
            const float* gradient = inputs_.gradient().data();
            for (std::size_t i = 0; i < residual_.size(); ++i) residual_[i] += gradient[i];
          });
        },
        limits);
  }

 private:
  void prepare(const BenchPoint& point) {
    const std::int64_t elements = total(point.tensors);
    if (!point.recorded) return prepare(point.input, point.seed, elements);
    inputs_.take(point.recorded, elements);
    residual_.resize(static_cast<std::size_t>(elements));
  }

  void prepare(Input input, std::uint32_t seed, std::int64_t elements) {
    inputs_.make(input, seed, elements);
    residual_.resize(static_cast<std::size_t>(elements));
  }

  /// Restores the residual. Every call changes it, and a residual that grows from sample to sample
  /// would be another input.
  void restore_residual() {
    std::copy_n(inputs_.residual().begin(), residual_.size(), residual_.begin());
  }

  void encode(const Compressor& compressor, const BenchPoint& point,
              const std::vector<Slice>& slices, std::vector<SparseSet>& selected) {
    for (std::size_t t = 0; t < slices.size(); ++t) {
      const auto [begin, elements, k, threshold] = slices[t];
      const std::span<float> values = std::span(values_).subspan(begin, elements);
      const std::span<std::int32_t> indices = std::span(indices_).subspan(begin, elements);
      const Encoded encoded = compressor.encode(
          inputs_.gradient().subspan(begin, elements),
          std::span(residual_).subspan(begin, elements),
          {.k = k, .mode = point.mode, .seed = point.seed, .threshold = threshold},
          {values, indices});
      const auto count = static_cast<std::size_t>(encoded.count);
      selected[t] = {values.first(count), indices.first(count)};
    }
  }

  ExactCut exact_cut_of(const Slice& slice) const {
    return exact_cut(inputs_.gradient().subspan(slice.begin, slice.elements),
                     inputs_.residual().subspan(slice.begin, slice.elements), slice.k);
  }

  double recall(const std::vector<Slice>& slices, const std::vector<SparseSet>& selected) const {
    std::int64_t found = 0;
    std::int64_t wanted = 0;
    for (std::size_t t = 0; t < slices.size(); ++t) {
      const ExactCut cut = exact_cut_of(slices[t]);
      std::int64_t above = 0;
      std::int64_t equal = 0;
      for (const float value : selected[t].values) {
        above += magnitude_key(value) > cut.least ? 1 : 0;
        equal += magnitude_key(value) == cut.least ? 1 : 0;
      }
      found += above + std::min(equal, slices[t].k - cut.above);
      wanted += slices[t].k;
    }
    return wanted > 0 ? static_cast<double>(found) / static_cast<double>(wanted) : 1;
  }

  void decode_all(const BenchPoint& point, const std::vector<Slice>& slices,
                  const std::vector<SparseSet>& selected, const BenchLimits& limits,
                  BenchResult& result) {
    const int most = *std::max_element(point.workers.begin(), point.workers.end());
    const WorkerSets sets(point.tensors, selected, most);
    dense_.resize(residual_.size());
    for (const int workers : point.workers) {
      std::vector<std::vector<SparseSet>> of_tensor(slices.size());
      for (std::size_t t = 0; t < slices.size(); ++t)
        for (int worker = 0; worker < workers; ++worker)
          of_tensor[t].push_back({sets.of(t, worker).values, sets.of(t, worker).indices});
      result.decode.push_back(take_samples(
          [&] {
            cold_.evict();
            return seconds_of([&] {
              for (std::size_t t = 0; t < slices.size(); ++t)
                decode(of_tensor[t],
                       std::span(dense_).subspan(slices[t].begin, slices[t].elements));
            });
          },
          limits));
    }
  }

  ColdCache cold_;
  Inputs inputs_;
  std::vector<float> residual_;
  std::vector<float> values_;
  std::vector<std::int32_t> indices_;
  std::vector<float> dense_;
};

}  // namespace

std::unique_ptr<Bench> make_cpu_bench() { return std::make_unique<CpuBench>(); }

}  // namespace gradcast
