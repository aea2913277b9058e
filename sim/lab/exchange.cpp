#include "sim/lab/exchange.hpp"

#include <algorithm>

#include "sim/inputs/cost_table.hpp"
#include "sim/lab/draws.hpp"

namespace gradcast::lab {
namespace {

/// Elements that a thread adds up at a time.
constexpr std::size_t kBlock = 8192;

}  // namespace

Exchange::Exchange(const TrainingSettings& settings, const std::vector<ParameterTensor>& tensors)
    : settings_(settings), parts_(parts_of(tensors, settings.scope)) {
  for (const Part& part : parts_) elements_ += part.elements;
  const auto workers = static_cast<std::size_t>(settings.workers);
  gradients_.assign(workers, std::vector<float>(elements_));
  memories_.resize(workers);
  sets_.resize(workers);
  if (settings.compressor->packing != nullptr) packed_.emplace(settings, parts_);
  if (settings.compressor->low_rank != nullptr) low_rank_.emplace(settings, parts_);
  sent_.assign(workers, low_rank_ ? low_rank_->numbers() : static_cast<std::int64_t>(elements_));
  if (!settings.compresses()) return;
  for (WorkerMemory& memory : memories_) {
    if (!packed_ || settings.feedback) memory.residual.assign(elements_, 0.0f);
    if (low_rank_) memory.query.assign(low_rank_->query_elements(), 0.0f);
    if (settings.momentum_correction) memory.velocity.assign(elements_, 0.0f);
  }
}

std::int64_t Exchange::wanted_of(const Part& part, double density) const {
  return wanted_elements(static_cast<std::int64_t>(part.elements), density);
}

std::int64_t Exchange::wanted(double density) const {
  if (!settings_.selects()) return sent_.front();
  std::int64_t all = 0;
  for (const Part& part : parts_) all += wanted_of(part, density);
  return all;
}

double Exchange::bytes_of(double sent_elements) const {
  if (packed_) return static_cast<double>(packed_->bytes());
  if (!settings_.selects()) return sizeof(float) * sent_elements;
  const double value = bytes_of_value(settings_.value_type);
  const bool indices_known = settings_.compressor->shared_seed && settings_.shared_seed;
  return (value + (indices_known ? 0 : sizeof(std::int32_t))) * sent_elements;
}

void Exchange::select_of(const Part& part, const Selection& selection, std::span<const float> input,
                         std::span<float> residual, Sent& sent) const {
  // A threshold may select everything.
  const std::size_t room = settings_.compressor->exact_count
                               ? static_cast<std::size_t>(std::max<std::int64_t>(selection.k, 0))
                               : part.elements;
  const std::size_t before = sent.values.size();
  sent.values.resize(before + std::min(room, part.elements));
  sent.indices.resize(sent.values.size());
  const Encoded encoded =
      settings_.compressor->encode(input.subspan(part.first, part.elements),
                                   residual.subspan(part.first, part.elements), selection,
                                   {std::span(sent.values).subspan(before),
                                    std::span(sent.indices).subspan(before), settings_.value_type});
  const std::size_t after = before + static_cast<std::size_t>(encoded.count);
  sent.values.resize(after);
  sent.indices.resize(after);
  for (std::size_t i = before; i < after; ++i)
    sent.indices[i] += static_cast<std::int32_t>(part.first);
}

void Exchange::encode(std::size_t worker, int iteration, double density) {
  if (!settings_.compresses()) return;
  std::vector<float>& gradient = gradients_[worker];
  WorkerMemory& memory = memories_[worker];
  if (!settings_.feedback) std::fill(memory.residual.begin(), memory.residual.end(), 0.0f);
  if (settings_.momentum_correction) {
    const auto momentum = static_cast<float>(settings_.momentum);
    for (std::size_t i = 0; i < elements_; ++i)
      gradient[i] = memory.velocity[i] = momentum * memory.velocity[i] + gradient[i];
  }
  if (settings_.selects()) return select(worker, iteration, density);
  add_residual(worker);
  if (packed_) packed_->encode(worker, iteration, gradient, memory.residual);
  if (low_rank_) low_rank_->encode(worker, iteration, gradient, memory);
}

void Exchange::add_residual(std::size_t worker) {
  std::vector<float>& gradient = gradients_[worker];
  std::vector<float>& residual = memories_[worker].residual;
  if (settings_.compressor->family == Family::Cast)
    for (float& element : gradient) element /= static_cast<float>(settings_.workers);
  for (std::size_t i = 0; i < residual.size(); ++i)
    gradient[i] = add_feedback(gradient[i], residual[i]);
  std::fill(residual.begin(), residual.end(), 0.0f);
}

void Exchange::select(std::size_t worker, int iteration, double density) {
  const std::vector<float>& gradient = gradients_[worker];
  WorkerMemory& memory = memories_[worker];
  Sent& sent = sets_[worker];
  sent.values.clear();
  sent.indices.clear();
  if (settings_.combination == Combination::Global) {
    for (std::size_t i = 0; i < elements_; ++i) memory.residual[i] += gradient[i];
    return;
  }
  for (std::size_t number = 0; number < parts_.size(); ++number) {
    const std::uint64_t drawer = settings_.shared_seed ? 0 : static_cast<std::uint64_t>(worker) + 1;
    const Selection selection{.k = wanted_of(parts_[number], density),
                              .mode = settings_.mode,
                              .seed = selection_seed(settings_.seed, drawer, number,
                                                     static_cast<std::uint64_t>(iteration)),
                              .candidates = settings_.candidates,
                              .threshold = static_cast<float>(settings_.parameter)};
    select_of(parts_[number], selection, gradient, memory.residual, sent);
  }
  if (settings_.masking)
    for (const std::int32_t index : sent.indices)
      memory.velocity[static_cast<std::size_t>(index)] = 0.0f;
  sent_[worker] = static_cast<std::int64_t>(sent.values.size());
}

std::vector<float> Exchange::last_u(std::size_t worker) const {
  if (!settings_.selects()) return gradients_[worker];
  std::vector<float> u = memories_[worker].residual;
  const Sent& sent = sets_[worker];
  for (std::size_t i = 0; i < sent.values.size(); ++i)
    u[static_cast<std::size_t>(sent.indices[i])] = sent.values[i];
  return u;
}

void Exchange::combine(double density, Team& team, std::span<float> mean) {
  if (low_rank_) return low_rank_->combine(team, memories_, mean);
  if (packed_) {
    packed_->combine(team, gradients_, memories_, mean);
    if (packed_->gives_the_mean()) return;
  } else if (!settings_.compresses()) {
    combine_dense(team, mean);
  } else if (settings_.combination == Combination::GTopK) {
    combine_by_tree(density, mean);
  } else if (settings_.combination == Combination::Global) {
    combine_globally(density, mean);
  } else {
    std::vector<SparseSet> sets;
    for (const Sent& sent : sets_) sets.push_back(sent.set());
    decode(sets, mean);
  }
  const float share = 1.0f / static_cast<float>(settings_.workers);
  for (float& element : mean) element *= share;
}

void Exchange::combine_dense(Team& team, std::span<float> sum) const {
  team.each((elements_ + kBlock - 1) / kBlock, [&](std::size_t, std::size_t block) {
    const std::size_t begin = block * kBlock;
    const std::size_t end = std::min(elements_, begin + kBlock);
    std::copy(gradients_[0].begin() + static_cast<std::ptrdiff_t>(begin),
              gradients_[0].begin() + static_cast<std::ptrdiff_t>(end),
              sum.begin() + static_cast<std::ptrdiff_t>(begin));
    for (std::size_t worker = 1; worker < gradients_.size(); ++worker)
      for (std::size_t i = begin; i < end; ++i) sum[i] += gradients_[worker][i];
  });
}

Exchange::Sent Exchange::largest_of(std::span<const float> sum, double density) const {
  std::vector<float> rest(elements_);
  Sent largest;
  for (const Part& part : parts_) {
    const Selection selection{.k = wanted_of(part, density), .mode = settings_.mode};
    select_of(part, selection, sum, rest, largest);
  }
  return largest;
}

/// Shi et al., "A Distributed Synchronous SGD Algorithm with Global Top-k Sparsification", ICDCS
/// 2019, Algorithms 2 to 4: pairs add up what they have and keep the k largest, until one is left.
/// Then each worker takes back what it sent at places that nobody keeps.
void Exchange::combine_by_tree(double density, std::span<float> sum) {
  std::vector<Sent> left = sets_;
  while (left.size() > 1) {
    std::vector<Sent> next;
    for (std::size_t i = 0; i < left.size(); i += 2) {
      if (i + 1 == left.size()) {
        next.push_back(std::move(left[i]));
        continue;
      }
      decode(std::vector{left[i].set(), left[i + 1].set()}, sum);
      next.push_back(largest_of(sum, density));
    }
    left = std::move(next);
  }
  decode(std::vector{left[0].set()}, sum);
  std::vector<bool> kept(elements_);
  for (const std::int32_t index : left[0].indices) kept[static_cast<std::size_t>(index)] = true;
  for (std::size_t worker = 0; worker < sets_.size(); ++worker)
    for (std::size_t i = 0; i < sets_[worker].values.size(); ++i) {
      const auto place = static_cast<std::size_t>(sets_[worker].indices[i]);
      if (!kept[place]) memories_[worker].residual[place] = sets_[worker].values[i];
    }
}

void Exchange::combine_globally(double density, std::span<float> sum) {
  std::fill(sum.begin(), sum.end(), 0.0f);
  for (const WorkerMemory& memory : memories_)
    for (std::size_t i = 0; i < elements_; ++i) sum[i] += memory.residual[i];
  const Sent largest = largest_of(sum, density);
  decode(std::vector{largest.set()}, sum);
  for (std::size_t worker = 0; worker < memories_.size(); ++worker) {
    for (const std::int32_t index : largest.indices) {
      memories_[worker].residual[static_cast<std::size_t>(index)] = 0.0f;
      if (settings_.masking) memories_[worker].velocity[static_cast<std::size_t>(index)] = 0.0f;
    }
    sent_[worker] = static_cast<std::int64_t>(largest.values.size());
  }
}

}  // namespace gradcast::lab
