#include "sim/lab/packed_exchange.hpp"

#include <algorithm>

#include "kernels/levels.hpp"
#include "sim/lab/draws.hpp"

namespace gradcast::lab {

PackedExchange::PackedExchange(const TrainingSettings& settings, std::vector<Part> parts)
    : compressor_(*settings.compressor),
      levels_(settings.shared_scale ? compressor_.levels() : nullptr),
      parameter_(settings.parameter),
      seed_(settings.seed),
      shared_seed_(settings.shared_seed),
      workers_(settings.workers),
      parts_(std::move(parts)) {
  const auto workers = static_cast<std::size_t>(workers_);
  own_.assign(levels_ != nullptr ? parts_.size() : 0, std::vector<Own>(workers));
  for (const Part& part : parts_) {
    const auto elements = static_cast<std::int64_t>(part.elements);
    const std::int64_t words =
        levels_ != nullptr ? lane_words(elements, lane_bits(levels_->largest(parameter_), workers_))
                           : compressor_.packing->words(elements, parameter_);
    payloads_.emplace_back(workers, std::vector<std::uint32_t>(static_cast<std::size_t>(words)));
  }
}

std::uint64_t PackedExchange::seed_of(std::size_t worker, std::size_t part, int iteration) const {
  const std::uint64_t drawer = shared_seed_ ? 0 : static_cast<std::uint64_t>(worker) + 1;
  return selection_seed(seed_, drawer, part, static_cast<std::uint64_t>(iteration));
}

void PackedExchange::encode(std::size_t worker, int iteration, std::span<const float> u,
                            std::span<float> residual) {
  for (std::size_t number = 0; number < parts_.size(); ++number) {
    const auto [first, elements, shape] = parts_[number];
    const std::span<const float> its = u.subspan(first, elements);
    const std::uint64_t seed = seed_of(worker, number, iteration);
    if (levels_ != nullptr) {
      own_[number][worker] = {levels_->own_scale(its, {}, parameter_).scale, seed};
      continue;
    }
    compressor_.packing->encode(its,
                                residual.empty() ? residual : residual.subspan(first, elements),
                                {parameter_, seed}, payloads_[number][worker]);
  }
}

LevelSettings PackedExchange::agreed(std::size_t part) const {
  LevelSettings settings{.parameter = parameter_, .workers = workers_};
  for (const Own& own : own_[part]) settings.scale = std::max(settings.scale, own.scale);
  return settings;
}

void PackedExchange::encode_levels(std::size_t worker, std::span<const float> u,
                                   std::span<float> residual) {
  for (std::size_t number = 0; number < parts_.size(); ++number) {
    const auto [first, elements, shape] = parts_[number];
    const Own& own = own_[number][worker];
    LevelSettings settings = agreed(number);
    settings.seed = own.seed;
    levels_->encode(u.subspan(first, elements),
                    residual.empty() ? residual : residual.subspan(first, elements), own.scale,
                    settings, payloads_[number][worker]);
  }
}

/// Adds up the workers' words, as an all-reduce would.
void PackedExchange::decode_levels(std::size_t part, std::span<float> dense) const {
  std::vector<std::uint32_t> sum = payloads_[part].front();
  for (std::size_t worker = 1; worker < payloads_[part].size(); ++worker)
    for (std::size_t word = 0; word < sum.size(); ++word)
      sum[word] += payloads_[part][worker][word];
  levels_->decode(sum, agreed(part), dense);
}

void PackedExchange::combine(Team& team, std::span<const std::vector<float>> u,
                             std::span<WorkerMemory> memories, std::span<float> dense) {
  if (levels_ != nullptr)
    team.each(u.size(), [&](std::size_t, std::size_t worker) {
      encode_levels(worker, u[worker], memories[worker].residual);
    });
  team.each(parts_.size(), [&](std::size_t, std::size_t number) {
    const std::span<float> its = dense.subspan(parts_[number].first, parts_[number].elements);
    if (levels_ != nullptr) return decode_levels(number, its);
    const std::vector<std::span<const std::uint32_t>> payloads(payloads_[number].begin(),
                                                               payloads_[number].end());
    compressor_.packing->decode(payloads, parameter_, its);
  });
}

bool PackedExchange::gives_the_mean() const {
  // Of casts each worker has sent a P-th.
  return compressor_.packing->sum == PackSum::Votes || compressor_.family == Family::Cast;
}

std::int64_t PackedExchange::bytes() const {
  std::size_t words = own_.size();  // each worker tells its own
  for (const auto& payloads : payloads_) words += payloads.front().size();
  return static_cast<std::int64_t>(words * sizeof(std::uint32_t));
}

}  // namespace gradcast::lab
