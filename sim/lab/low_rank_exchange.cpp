#include "sim/lab/low_rank_exchange.hpp"

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

}  // namespace gradcast::lab
