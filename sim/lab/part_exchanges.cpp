#include "sim/lab/part_exchanges.hpp"

#include <algorithm>

#include "kernels/levels.hpp"
#include "sim/lab/draws.hpp"

namespace gradcast::lab {
namespace {

/// The mean of what each worker has, added in the order of the workers: an all-reduce.
template <class Of>
std::vector<float> mean_of(std::size_t workers, Of of) {
  const std::span<const float> first = of(std::size_t{0});
  std::vector<float> mean(first.begin(), first.end());
  for (std::size_t worker = 1; worker < workers; ++worker) {
    const std::span<const float> other = of(worker);
    for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += other[i];
  }
  const float share = 1.0f / static_cast<float>(workers);
  for (float& element : mean) element *= share;
  return mean;
}

}  // namespace

LowRankExchange::LowRankExchange(const TrainingSettings& settings, std::vector<Part> tensors)
    : definition_(*settings.compressor->low_rank), settings_(settings) {
  for (const Part& part : tensors) {
    const auto rank = static_cast<std::int64_t>(settings.parameter);
    const LowRankNumbers numbers = definition_.numbers(part.shape, rank, settings.mode);
    tensors_.push_back({part, numbers, query_elements_,
                        std::vector(static_cast<std::size_t>(settings.workers),
                                    std::vector<float>(static_cast<std::size_t>(numbers.first)))});
    query_elements_ += static_cast<std::size_t>(numbers.second);
  }
}

LowRankSettings LowRankExchange::settings_of(std::size_t tensor, int iteration) const {
  // All workers draw alike: they must have the same Q.
  return {.shape = tensors_[tensor].part.shape,
          .rank = static_cast<std::int64_t>(settings_.parameter),
          .mode = settings_.mode,
          .seed = selection_seed(settings_.seed, 0, tensor, static_cast<std::uint64_t>(iteration))};
}

void LowRankExchange::encode(std::size_t worker, int iteration, std::span<const float> u,
                             WorkerMemory& memory) {
  const std::span<float> residual = memory.residual;
  for (std::size_t number = 0; number < tensors_.size(); ++number) {
    Tensor& tensor = tensors_[number];
    const auto [first, elements, shape] = tensor.part;
    definition_.first(u.subspan(first, elements), residual.subspan(first, elements),
                      settings_of(number, iteration), tensor.query_of(memory), tensor.sent[worker]);
  }
}

void LowRankExchange::combine(Team& team, std::vector<WorkerMemory>& memories,
                              std::span<float> mean) {
  const std::size_t workers = memories.size();
  team.each(tensors_.size(), [&](std::size_t, std::size_t number) {
    Tensor& tensor = tensors_[number];
    const std::vector<float> p =
        mean_of(workers, [&](std::size_t worker) { return std::span(tensor.sent[worker]); });
    for (std::vector<float>& sent : tensor.sent) sent = p;
  });
  team.each(workers, [&](std::size_t, std::size_t worker) {
    const std::span<const float> u = memories[worker].residual;
    for (std::size_t number = 0; number < tensors_.size(); ++number) {
      Tensor& tensor = tensors_[number];
      definition_.second(u.subspan(tensor.part.first, tensor.part.elements), settings_of(number),
                         tensor.sent[worker], tensor.query_of(memories[worker]));
    }
  });
  const std::vector<float> query =
      mean_of(workers, [&](std::size_t worker) { return std::span(memories[worker].query); });
  // Every worker computes the same, for its own residual.
  std::vector<std::vector<float>> dense(team.members(), std::vector<float>(mean.size()));
  team.each(workers, [&](std::size_t member, std::size_t worker) {
    WorkerMemory& memory = memories[worker];
    memory.query = query;
    const std::span<float> received = worker == 0 ? mean : std::span<float>(dense[member]);
    for (std::size_t number = 0; number < tensors_.size(); ++number) {
      const Tensor& tensor = tensors_[number];
      const auto [first, elements, shape] = tensor.part;
      definition_.finish(settings_of(number), tensor.sent[worker], tensor.query_of(memory),
                         received.subspan(first, elements),
                         std::span(memory.residual).subspan(first, elements));
    }
  });
}

std::int64_t LowRankExchange::numbers() const {
  std::int64_t all = 0;
  for (const Tensor& tensor : tensors_) all += tensor.numbers.first + tensor.numbers.second;
  return all;
}

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
  // With a cast, each worker has sent 1/P of the elements' values.
  return compressor_.packing->sum == PackSum::Votes || compressor_.family == Family::Cast;
}

std::int64_t PackedExchange::bytes() const {
  std::size_t words = own_.size();  // each worker tells its own
  for (const auto& payloads : payloads_) words += payloads.front().size();
  return static_cast<std::int64_t>(words * sizeof(std::uint32_t));
}

}  // namespace gradcast::lab
