// Two sparse sets merged on a device, and DGC's momentum: as plain loops do it, bit for bit.
#pragma once
#include <map>

#include "tests/kernels/on_device.hpp"

namespace gradcast::cases {

struct Pairs {
  std::vector<float> values;
  std::vector<std::int32_t> indices;
};

/// The k largest in magnitude of the sum of both, as values of a type: found by adding into a map
/// and sorting.
inline Pairs merged(const Pairs& first, const Pairs& second, std::size_t k, ValueType type) {
  std::map<std::int32_t, float> sum;
  for (const Pairs* set : {&first, &second})
    for (std::size_t i = 0; i < set->values.size() && set->indices[i] != INT32_MAX; ++i)
      sum[set->indices[i]] = add_feedback(sum[set->indices[i]], set->values[i]);
  std::vector<std::pair<std::int32_t, float>> order(sum.begin(), sum.end());
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return magnitude_key(a.second) > magnitude_key(b.second);
  });
  order.resize(std::min(k, order.size()));
  std::sort(order.begin(), order.end());
  Pairs largest;
  for (const auto& [index, value] : order) {
    largest.indices.push_back(index);
    largest.values.push_back(as_sent(type, value));
  }
  return largest;
}

/// Top-k of normal numbers, filled up to `most` as an all-gather does. Numbers are whole, so that
/// many sums are equal, and some 0.
inline Pairs padded_selection(std::uint32_t seed, std::int64_t elements, std::int64_t k,
                              std::size_t most) {
  Vectors vectors = make_vectors(Input::normal, elements, seed);
  for (float& x : vectors.gradient) x = std::round(2 * x);
  for (float& x : vectors.residual) x = 0;
  const Answer answer =
      reference_answer({find_compressor("topk"), Mode::Only}, vectors, {k, Mode::Only, 0, 0});
  Pairs pairs{answer.values, answer.indices};
  pairs.values.resize(most, 0.0f);
  pairs.indices.resize(most, INT32_MAX);
  return pairs;
}

class MergeOnDevice {
 public:
  MergeOnDevice(Device& device, const Pairs& first, const Pairs& second, std::size_t k,
                ValueType type)
      : type_(type),
        values_{{device, first.values.size()}, {device, second.values.size()}},
        codes_{{device, first.values.size()}, {device, second.values.size()}},
        indices_{{device, first.values.size()}, {device, second.values.size()}},
        counts_{{device, 1}, {device, 1}},
        largest_(device, k),
        largest_codes_(device, k),
        places_(device, k),
        count_(device, 1) {
    const Pairs* const sets[] = {&first, &second};
    for (std::size_t i = 0; i < 2; ++i) {
      std::vector<std::uint16_t> codes;
      for (const float value : sets[i]->values)
        codes.push_back(type == ValueType::Fp32 ? std::uint16_t{0} : code_of_value(type, value));
      values_[i].set(sets[i]->values);
      codes_[i].set(codes);
      indices_[i].set(sets[i]->indices);
      counts_[i].set({static_cast<std::int64_t>(sets[i]->values.size())});
    }
  }

  MergedSets describe(std::size_t most) {
    MergedSets sets;
    DecoderSet* const given[] = {&sets.first, &sets.second};
    const bool wide = type_ == ValueType::Fp32;
    for (std::size_t i = 0; i < 2; ++i)
      *given[i] = {wide ? values_[i].get() : nullptr, indices_[i].get(), counts_[i].get(), type_,
                   wide ? nullptr : codes_[i].get()};
    sets.most = static_cast<std::int64_t>(most);
    sets.k = static_cast<std::int64_t>(largest_.size());
    sets.values = wide ? largest_.get() : nullptr;
    sets.codes = wide ? nullptr : largest_codes_.get();
    sets.indices = places_.get();
    sets.count = count_.get();
    return sets;
  }

  Pairs read() {
    const auto count = static_cast<std::size_t>(count_.read()[0]);
    Pairs pairs{largest_.read(), places_.read()};
    if (type_ != ValueType::Fp32) {
      const std::vector<std::uint16_t> codes = largest_codes_.read();
      for (std::size_t i = 0; i < count; ++i) pairs.values[i] = value_of_code(type_, codes[i]);
    }
    pairs.values.resize(count);
    pairs.indices.resize(count);
    return pairs;
  }

 private:
  ValueType type_;
  Banded<float> values_[2];
  Banded<std::uint16_t> codes_[2];
  Banded<std::int32_t> indices_[2];
  Banded<std::int64_t> counts_[2];
  Banded<float> largest_;
  Banded<std::uint16_t> largest_codes_;
  Banded<std::int32_t> places_;
  Banded<std::int64_t> count_;
};

/// Sets apart, alike, empty, and of many blocks; fewer elements than k.
inline void check_merge(Device& device) {
  struct Sizes {
    std::int64_t elements;
    std::int64_t k[2];
    std::size_t most, wanted;
    ValueType type = ValueType::Fp32;
  };
  for (const Sizes& sizes :
       {Sizes{40, {5, 5}, 8, 5}, Sizes{40, {20, 20}, 20, 60}, Sizes{1000, {0, 7}, 7, 7},
        Sizes{1000, {0, 0}, 1, 3}, Sizes{30'000, {3000, 2500}, 3100, 3000},
        Sizes{9000, {9000, 9000}, 9000, 5000}, Sizes{1000, {90, 80}, 100, 80, ValueType::Fp16}}) {
    CAPTURE(sizes.elements, sizes.k[0], sizes.k[1], sizes.wanted);
    const Pairs first = padded_selection(1, sizes.elements, sizes.k[0], sizes.most);
    const Pairs second = padded_selection(2, sizes.elements, sizes.k[1], sizes.most);
    const Pairs expected = merged(first, second, sizes.wanted, sizes.type);
    MergeOnDevice on_device(device, first, second, sizes.wanted, sizes.type);
    const auto merger = device.make_merger(on_device.describe(sizes.most), {});
    for (int again = 0; again < 2; ++again) {
      merger->merge(device.queue->stream());
      device.queue->wait();
      const Pairs answer = on_device.read();
      REQUIRE(answer.indices == expected.indices);
      REQUIRE(first_difference(expected.values, answer.values) == -1);
    }
  }
}

/// v = 0.9 v + g twice; then 0 where something was sent.
inline void check_momentum(Device& device, ValueType type) {
  const std::size_t elements = 5000;
  Vectors vectors = make_vectors(Input::normal, elements, 3);
  vectors.gradient = in_type(vectors.gradient, type);
  BandedNumbers gradient(device, elements, type);
  Banded<float> velocity(device, elements);
  Banded<std::int32_t> indices(device, 4);
  Banded<std::int64_t> count(device, 1);
  gradient.set(vectors.gradient);
  velocity.set(vectors.residual);
  indices.set({0, 700, 4999, INT32_MAX});
  count.set({4});
  const auto momentum = device.make_momentum(
      0.9f, {{gradient.read_only(), velocity.get(), elements, indices.get(), count.get()}});
  std::vector<float> expected = vectors.residual;
  for (int again = 0; again < 2; ++again) {
    momentum->correct(device.queue->stream());
    for (std::size_t i = 0; i < elements; ++i) {
      const volatile float product = 0.9f * expected[i];  // rounded by itself on any processor
      expected[i] = product + vectors.gradient[i];
    }
  }
  device.queue->wait();
  REQUIRE(first_difference(expected, velocity.read()) == -1);
  momentum->mask(device.queue->stream());
  device.queue->wait();
  expected[0] = expected[700] = expected[4999] = 0.0f;
  REQUIRE(first_difference(expected, velocity.read()) == -1);
}

}  // namespace gradcast::cases
