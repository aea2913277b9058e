#include "sim/plan/bucket_costs.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "kernels/levels.hpp"
#include "kernels/low_rank.hpp"
#include "sim/base/error.hpp"
#include "sim/base/random.hpp"
#include "sim/plan/shard_groups.hpp"

namespace gradcast {
namespace {

/// The type that most elements of gradients have.
NumberType usual_type(const Model& model) {
  std::map<NumberType, std::int64_t> elements;
  for (const GradientTensor& tensor : model.tensors)
    if (!tensor.frozen) elements[tensor.gradient_type] += tensor.elements;
  const auto most =
      std::max_element(elements.begin(), elements.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == elements.end() ? NumberType::Fp32 : most->first;
}

CostChoice choice_of(const Scenario& scenario) {
  CostChoice choice = cost_choice(scenario);
  choice.input_type = usual_type(scenario.model);
  return choice;
}

/// Bits of a lane that holds the sum of so many ranks' levels of a quantiser.
int bits_of_lane(const Compressor& compressor, double parameter, int ranks) {
  const std::uint32_t largest = compressor.levels()->largest(parameter);
  const int bits = lane_bits(largest, ranks);
  if (bits == 0)
    throw ValueError("the sum of " + std::to_string(ranks) + " ranks' levels of " +
                     std::string(compressor.name) + ", each up to " + std::to_string(largest) +
                     ", does not fit in 32 bits: take fewer levels (--parameter)");
  return bits;
}

/// PowerSGD does half of its encoding before its first all-reduce and half after: each half reads
/// the matrix once.
constexpr double kShareOfFirstFactor = 0.5;
/// A quantiser encodes in two equal passes: one finds the scale, and one uses it.
constexpr double kShareOfScales = 0.5;

}  // namespace

KnownCosts::KnownCosts(const Scenario& scenario) : table_(scenario.costs, choice_of(scenario)) {}

BucketCosts::BucketCosts(const Scenario& scenario, KnownCosts* known)
    : scenario_(scenario),
      cluster_(scenario.cluster),
      network_(scenario.cluster, scenario.nccl, scenario.library),
      shards_(scenario.all_reduces_gradients() ? 1 : scenario.shards()),
      known_(known) {
  if (shards_ > 1) groups_ = replica_groups(shards_, cluster_.ranks());
  if (known_ != nullptr || !scenario.compresses() || cluster_.ranks() == 1) return;
  own_ = std::make_unique<KnownCosts>(scenario);
  known_ = own_.get();
}

/// The line through the times of a collective of no bytes and one of all of them. A cluster that
/// states what its planner assumes overrides it.
PlannerNetwork BucketCosts::planner_network() const {
  if (cluster_.planner_bandwidth.value > 0)
    return {cluster_.planner_startup, Bytes{1} / cluster_.planner_bandwidth};
  if (cluster_.ranks() == 1) return {};
  Bytes all{};
  for (const GradientTensor& tensor : scenario_.model->tensors) all = all + tensor.sum_bytes();
  const auto time = [&](Bytes payload) {
    CollectiveLoad load{.payload = payload};
    const CollectiveUse use = collective_for(load, Aggregation::AllReduce);
    load.protocol = use.protocol;
    return network_.time(*use.collective, load);
  };
  const Seconds startup = time(Bytes{0}) + cluster_.per_tensor_negotiation;
  return {startup,
          (time(all) + cluster_.per_tensor_negotiation - startup) / static_cast<double>(all.count)};
}

Seconds BucketCosts::software_time(const Collective& collective, const CollectiveLoad& load,
                                   const RankGroups& groups) const {
  const bool gathers = collective.serves == Aggregation::AllGather && !collective.sparse;
  if (!gathers || cluster_.staging_bandwidth.value <= 0) return cluster_.per_tensor_negotiation;
  // Each rank's host gets one payload from every rank of its group.
  const int members = groups.all() ? cluster_.ranks() : groups.length;
  return cluster_.per_tensor_negotiation + load.payload * members / cluster_.staging_bandwidth;
}

BucketCost BucketCosts::whole_cost(const Bucket& bucket) const {
  if (cluster_.ranks() == 1) return {};
  const PlannedBucket planned = plan_bucket(bucket);
  const Collective& main = *planned.collective;
  Seconds communicate = network_.time(main, load_of(planned), planned.groups) +
                        (scenario_.wire_messages - 1) * cluster_.per_tensor_negotiation +
                        software_time(main, load_of(planned), planned.groups);
  std::vector<DenseCollective> around = planned.first;
  around.push_back(planned.before);
  around.push_back(planned.after);
  for (const DenseCollective& each : around)
    if (each.collective != nullptr)
      communicate +=
          network_.time(*each.collective, each.load, each.groups) + cluster_.per_tensor_negotiation;
  return {planned.first_encode + planned.cost.encode, communicate, planned.cost.decode};
}

CollectiveUse BucketCosts::collective_for(const CollectiveLoad& load,
                                          Aggregation aggregation) const {
  if (scenario_.collective != nullptr && scenario_.collective->serves == aggregation)
    return {scenario_.collective};
  return network_.choose(aggregation, load, groups_);
}

DenseCollective BucketCosts::dense(const CollectiveUse& use, CollectiveLoad load,
                                   const RankGroups& groups) const {
  load.protocol = use.protocol;
  return {use.collective, std::move(load), groups};
}

void BucketCosts::carry(PlannedBucket& planned, Aggregation aggregation) const {
  const CollectiveUse use = collective_for(load_of(planned), aggregation);
  planned.collective = use.collective;
  planned.protocol = use.protocol;
}

/// Ranks that share the encoding, because what they encode was added up among them first.
int BucketCosts::sharers(const Collective& collective) const {
  return collective.before == nullptr ? shards_ : network_.layout().gpus_of(0);
}

std::int64_t BucketCosts::share(std::int64_t elements, const Collective& collective) const {
  return std::max<std::int64_t>(1, elements / sharers(collective));
}

/// Number of sets that a decode adds up: 1 if the collective has added them up, else one of each
/// rank that exchanges, or of each node.
int BucketCosts::sets_of(const Collective& collective) const {
  const bool added_up = collective.sparse || collective.serves == Aggregation::AllReduce;
  if (collective.before != nullptr) return network_.layout().nodes();
  return added_up ? 1 : cluster_.ranks() / shards_;
}

CostEstimate BucketCosts::codec_cost(const Bucket& bucket, const Collective& collective) const {
  if (own_ != nullptr) return table_cost(bucket, collective);  // one plan asks for a bucket once
  std::pair asked{bucket.tensors, &collective};
  auto at = known_->of_buckets_.find(asked);
  if (at == known_->of_buckets_.end())
    at = known_->of_buckets_.emplace(std::move(asked), table_cost(bucket, collective)).first;
  return at->second;
}

/// The elements of each tensor that is encoded by itself: one of all where they are merged.
std::vector<std::int64_t> BucketCosts::encoded_tensors(const Bucket& bucket,
                                                       const Collective& collective) const {
  if (scenario_.selection == SelectionScope::Merged) return {share(bucket.elements, collective)};
  std::vector<std::int64_t> tensors;
  for (const std::size_t tensor : bucket.tensors)
    tensors.push_back(share(scenario_.model->tensors[tensor].elements, collective));
  return tensors;
}

CostEstimate BucketCosts::table_cost(const Bucket& bucket, const Collective& collective) const {
  const CompressorCosts& costs = known_->table_;
  const std::vector<std::int64_t> tensors = encoded_tensors(bucket, collective);
  const double density = scenario_.sparse() ? scenario_.density : 1;
  const std::optional<double> sent = scenario_.sparse() ? scenario_.sent_share : std::nullopt;
  return costs.of_each(tensors, density, sets_of(collective), sent);
}

CollectiveLoad BucketCosts::load_of(const PlannedBucket& planned) const {
  CollectiveLoad load{.payload = planned.payload};
  load.elements = planned.share;
  load.bytes_per_element = scenario_.wire_bytes_per_element;
  load.protocol = planned.protocol;
  return load;
}

/// A compressor's calls take the host's time beside their kernels. Engines divide a rank's steps by
/// its GPU's speed, and a faster GPU has no faster host.
CodecCorrection BucketCosts::beside_kernels() const {
  CodecCorrection its = scenario_.codec;
  for (Seconds CodecCorrection::*const time :
       {&CodecCorrection::per_call, &CodecCorrection::per_tensor, &CodecCorrection::per_element,
        &CodecCorrection::decode_per_call, &CodecCorrection::decode_per_tensor,
        &CodecCorrection::decode_per_rank})
    its.*time *= cluster_.compute_speed;
  return its;
}

/// With nothing but shards: every rank gets its sums, and nothing is left to send.
PlannedBucket BucketCosts::plan_scatter(PlannedBucket planned, const Bucket& bucket) const {
  planned.payload = bucket.bytes;
  planned.groups = shard_groups(shards_);
  const CollectiveUse use = network_.scatter(load_of(planned), planned.groups);
  planned.collective = use.collective;
  planned.protocol = use.protocol;
  return planned;
}

PlannedBucket BucketCosts::plan_bucket(const Bucket& bucket) const {
  PlannedBucket planned;
  planned.tensors = bucket.tensors.size();
  planned.elements = bucket.elements;
  planned.share = planned.selected = std::max<std::int64_t>(1, bucket.elements / shards_);
  planned.payload = shard_of(bucket.bytes, shards_);
  if (shards_ == cluster_.ranks() && shards_ > 1) return plan_scatter(planned, bucket);
  planned.groups = groups_;
  if (shards_ > 1) {
    const RankGroups groups = shard_groups(shards_);
    const CollectiveLoad load{.payload = bucket.bytes};
    planned.before = dense(network_.scatter(load, groups), load, groups);
  }
  if (!scenario_.compresses()) {
    carry(planned, Aggregation::AllReduce);
    return planned;
  }
  carry(planned, scenario_.aggregation());
  planned.share = share(bucket.elements, *planned.collective);
  if (const Collective* before = planned.collective->before; before != nullptr)
    planned.before = {before, {.payload = bucket.bytes}, {}};
  if (const Collective* after = planned.collective->after; after != nullptr)
    planned.after = {after, {.payload = bucket.bytes}, {}};
  planned.cost = codec_cost(bucket, *planned.collective);
  if (scenario_.compressing) {
    const CodecWork work{shards_ > 1 ? planned.share : bucket.elements, planned.cost.calls,
                         static_cast<int>(bucket.tensors.size()), sets_of(*planned.collective)};
    const CodecCorrection beside = beside_kernels();
    planned.cost.encode = corrected_encode(planned.cost.encode, work, beside);
    planned.cost.decode = corrected_decode(planned.cost.decode, work, beside);
  } else {
    planned.cost.encode = planned.cost.decode = Seconds{0};
    // A compressor that always sends as much then uses nothing of the table.
    if (scenario_.compressor->exact_count || !scenario_.sparse()) {
      planned.cost.outside.clear();
      planned.cost.far_outside.clear();
      planned.cost.interpolated = false;
    }
  }
  if (!scenario_.extrapolate && !planned.cost.far_outside.empty())
    throw ValueError("costs of '" + std::string(scenario_.compressor->name) +
                     "': " + planned.cost.far_outside +
                     ": name a cost table that has it, or let it be extrapolated (--extrapolate "
                     "yes)");
  if (scenario_.compressor->payload != nullptr)
    send_described(planned, bucket);
  else if (scenario_.sparse())
    send_pairs(planned);
  else if (scenario_.low_rank())
    send_factors(planned, bucket);
  else
    send_codes(planned, bucket);
  // A library chooses by what is sent, and not by what was to be compressed.
  if (scenario_.nccl || scenario_.library != nullptr) carry(planned, scenario_.aggregation());
  return planned;
}

/// A file's formula says the bytes of each tensor that is encoded by itself. Of several tensors
/// each keeps its share of what is selected.
void BucketCosts::send_described(PlannedBucket& planned, const Bucket& bucket) const {
  const std::vector<std::int64_t> tensors = encoded_tensors(bucket, *planned.collective);
  planned.selected = scenario_.sparse() ? planned.cost.selected : planned.share;
  const auto all =
      static_cast<double>(std::accumulate(tensors.begin(), tensors.end(), std::int64_t{0}));
  const double kept = static_cast<double>(planned.selected) / all;
  double bytes = 0;
  for (const std::int64_t elements : tensors) {
    const auto size = static_cast<double>(elements);
    const double k = tensors.size() == 1 ? static_cast<double>(planned.selected) : kept * size;
    bytes += (*scenario_.compressor->payload)(size, k, cluster_.ranks() / shards_);
  }
  constexpr double kRounding = 1e-6;  // of the shares
  planned.payload = Bytes{static_cast<std::int64_t>(std::ceil(bytes - kRounding))};
}

void BucketCosts::send_pairs(PlannedBucket& planned) const {
  planned.selected = planned.cost.selected;
  planned.payload = Bytes{planned.selected * scenario_.wire_bytes_per_element};
}

/// Codes or levels, and scales, of each tensor that is encoded by itself.
void BucketCosts::send_codes(PlannedBucket& planned, const Bucket& bucket) const {
  const Packing& packing = *scenario_.compressor->packing;
  const double parameter = scenario_.parameter;
  const int bytes_of_code = scenario_.wire_bytes_per_element;
  const int lane = bytes_of_code == 0 && scenario_.shares_scales()
                       ? bits_of_lane(*scenario_.compressor, parameter, cluster_.ranks() / shards_)
                       : 0;
  Bytes codes{};
  for (const std::int64_t elements : encoded_tensors(bucket, *planned.collective)) {
    const std::int64_t scale_words = packing.scale_words(elements, parameter);
    planned.scales = planned.scales + Bytes{4 * scale_words};
    const std::int64_t words =
        lane > 0 ? lane_words(elements, lane) : packing.words(elements, parameter) - scale_words;
    codes = codes + Bytes{bytes_of_code > 0 ? elements * bytes_of_code : 4 * words};
  }
  planned.selected = planned.share;
  planned.payload = codes + planned.scales;
  if (!scenario_.shares_scales()) return;
  planned.payload = codes;
  all_reduce_first(planned, std::exchange(planned.scales, Bytes{}));
  planned.first_encode = kShareOfScales * planned.cost.encode;
  planned.cost.encode = planned.cost.encode - planned.first_encode;
}

void BucketCosts::all_reduce_first(PlannedBucket& planned, Bytes bytes) const {
  const CollectiveLoad load{.payload = bytes};
  planned.first.push_back(
      dense(collective_for(load, Aggregation::AllReduce), load, planned.groups));
}

/// P goes first; Q once every rank has the mean of P. PyTorch's hook sends tensors that are not
/// compressed before P, by themselves, once P is computed. The authors' code sends them after P,
/// while Q is computed; here they go with P.
void BucketCosts::send_factors(PlannedBucket& planned, const Bucket& bucket) const {
  const Mode mode = planned.cost.mode == "paper" ? Mode::Paper : Mode::Code;
  Bytes whole{};  // not compressed
  Bytes first{};
  Bytes second{};
  planned.selected = 0;
  for (const std::size_t number : bucket.tensors) {
    const GradientTensor& tensor = scenario_.model->tensors[number];
    if (tensor.frozen) continue;
    const std::int64_t rows = tensor.shape.front();
    const LowRankNumbers numbers = low_rank_numbers(
        {rows, tensor.elements / rows}, static_cast<std::int64_t>(scenario_.parameter), mode);
    Bytes& with = numbers.compressed() ? first : whole;
    with = with + Bytes{numbers.first * bytes_of(tensor.sum_type)};
    second = second + Bytes{numbers.second * bytes_of(tensor.sum_type)};
    planned.selected += numbers.first + numbers.second;
  }
  if (second.count == 0) {  // all of it is sent as it is
    planned.payload = whole;
    planned.cost.encode = planned.cost.decode = Seconds{0};
    return;
  }
  const bool apart = mode == Mode::Code && whole.count > 0;
  if (apart) all_reduce_first(planned, whole);
  all_reduce_first(planned, apart ? first : first + whole);
  planned.payload = second;
  planned.first_encode = kShareOfFirstFactor * planned.cost.encode;
  planned.cost.encode = planned.cost.encode - planned.first_encode;
}

CollectiveLoad BucketCosts::part_of(const PlannedBucket& planned, std::size_t number, int part,
                                    int parts) const {
  CollectiveLoad load = load_of(planned);
  // Values and indices are as many bytes; scales and codes are not.
  load.payload = !scenario_.sparse() && parts > 1
                     ? (part == 0 ? planned.scales : planned.payload - planned.scales)
                     : chunk(planned.payload, part, parts);
  if (scenario_.count_spread == 0 || !scenario_.sparse() || scenario_.compressor->exact_count)
    return load;
  for (std::size_t rank = 0; rank < static_cast<std::size_t>(cluster_.ranks()); ++rank) {
    // The same draw for a bucket's values and its indices.
    const double factor =
        lognormal_factor(scenario_.count_spread, {scenario_.seed, number, Draw::Count, rank});
    const auto count = std::min(
        planned.share,
        static_cast<std::int64_t>(std::llround(static_cast<double>(planned.selected) * factor)));
    load.contributions.push_back(
        chunk(Bytes{count * scenario_.wire_bytes_per_element}, part, parts));
  }
  load.payload = *std::max_element(load.contributions.begin(), load.contributions.end());
  return load;
}

PlannedBucket BucketCosts::plan_payload() const {
  const CollectiveLoad load{.payload = scenario_.payload};
  PlannedBucket planned;
  planned.tensors = 1;
  planned.payload = scenario_.payload;
  const CollectiveUse use = scenario_.collective != nullptr ? CollectiveUse{scenario_.collective}
                                                            : network_.to(scenario_.outcome, load);
  planned.collective = use.collective;
  planned.protocol = use.protocol;
  return planned;
}

Seconds BucketCosts::update_of(const Bucket& bucket) const {
  const auto all = static_cast<double>(scenario_.model->gradient_elements());
  return scenario_.trace->update * (static_cast<double>(bucket.elements) / all);
}

DenseCollective BucketCosts::parameter_gather(const std::vector<std::size_t>& tensors) const {
  Bytes all{};
  for (const std::size_t tensor : tensors) all = all + scenario_.model->tensors[tensor].bytes();
  const int shards = scenario_.shards();
  const RankGroups groups = shard_groups(shards);
  const CollectiveLoad load{.payload = shard_of(all, shards)};
  return dense(network_.gather(load, groups), load, groups);
}

DenseCollective BucketCosts::parameter_broadcast(std::size_t tensor, int owner) const {
  const RankGroups groups = shard_groups(scenario_.shards());
  const CollectiveLoad load{.payload = scenario_.model->tensors[tensor].bytes(), .root = owner};
  return dense(network_.broadcast(load, groups), load, groups);
}

DenseCollective BucketCosts::buffer_broadcast(Bytes buffers) const {
  const CollectiveLoad load{.payload = buffers};
  return dense(network_.to(Outcome::Broadcast, load), load, {});
}

DenseCollective BucketCosts::used_parameters() const {
  constexpr std::int64_t kInt32 = 4;
  const auto& tensors = scenario_.model->tensors;
  const auto trained = std::count_if(tensors.begin(), tensors.end(),
                                     [](const GradientTensor& each) { return !each.frozen; });
  const CollectiveLoad load{.payload = Bytes{kInt32 * trained}};
  return dense(collective_for(load, Aggregation::AllReduce), load, groups_);
}

}  // namespace gradcast
