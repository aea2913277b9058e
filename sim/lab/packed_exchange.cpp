#include "sim/lab/packed_exchange.hpp"

#include "sim/lab/draws.hpp"

namespace gradcast::lab {

PackedExchange::PackedExchange(const TrainingSettings& settings, std::vector<Part> parts)
    : compressor_(*settings.compressor),
      parameter_(settings.parameter),
      seed_(settings.seed),
      shared_seed_(settings.shared_seed),
      parts_(std::move(parts)) {
  for (const Part& part : parts_) {
    const auto words = static_cast<std::size_t>(
        compressor_.packing->words(static_cast<std::int64_t>(part.elements), parameter_));
    payloads_.emplace_back(static_cast<std::size_t>(settings.workers),
                           std::vector<std::uint32_t>(words));
  }
}

void PackedExchange::encode(std::size_t worker, int iteration, std::span<const float> u,
                            std::span<float> residual) {
  const std::uint64_t drawer = shared_seed_ ? 0 : static_cast<std::uint64_t>(worker) + 1;
  for (std::size_t number = 0; number < parts_.size(); ++number) {
    const auto [first, elements, shape] = parts_[number];
    const PackSettings settings{
        parameter_, selection_seed(seed_, drawer, number, static_cast<std::uint64_t>(iteration))};
    compressor_.packing->encode(u.subspan(first, elements),
                                residual.empty() ? residual : residual.subspan(first, elements),
                                settings, payloads_[number][worker]);
  }
}

void PackedExchange::combine(Team& team, std::span<float> dense) const {
  team.each(parts_.size(), [&](std::size_t, std::size_t number) {
    const std::vector<std::span<const std::uint32_t>> payloads(payloads_[number].begin(),
                                                               payloads_[number].end());
    compressor_.packing->decode(payloads, parameter_,
                                dense.subspan(parts_[number].first, parts_[number].elements));
  });
}

bool PackedExchange::gives_the_mean() const {
  // Of casts each worker has sent a P-th.
  return compressor_.packing->sum == PackSum::Votes || compressor_.family == Family::Cast;
}

std::int64_t PackedExchange::bytes() const {
  std::size_t words = 0;
  for (const auto& payloads : payloads_) words += payloads.front().size();
  return static_cast<std::int64_t>(words * sizeof(std::uint32_t));
}

}  // namespace gradcast::lab
