#include "sim/forecast/software_spread.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "kernels/normal_quantile.hpp"
#include "sim/base/random.hpp"
#include "sim/base/statistics.hpp"
#include "sim/base/thread_pool.hpp"
#include "sim/engine/iteration_result.hpp"
#include "sim/forecast/link_doubt.hpp"
#include "sim/forecast/uncertainty.hpp"
#include "sim/network/collective_choice.hpp"
#include "sim/plan/bucket_costs.hpp"
#include "sim/plan/plan_summary.hpp"
#include "sim/plan/stack_use.hpp"

namespace gradcast {
namespace {

using Draws = std::vector<double>;

/// A number of a name, the same on every machine (FNV-1a).
std::uint64_t hash_of(const std::string& name) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char letter : name) {
    hash ^= static_cast<unsigned char>(letter);
    hash *= 0x100000001b3;
  }
  return hash;
}

/// One value of each of as many equal parts of a distribution.
template <class Quantile>
Draws strata_of(Quantile quantile) {
  Draws values;
  for (std::size_t i = 0; i < kSpreadDraws; ++i)
    values.push_back(quantile((static_cast<double>(i) + 0.5) / kSpreadDraws));
  return values;
}

/// The values in an order that belongs to the name (a Latin hypercube).
Draws shuffled_by(const std::string& name, Draws shuffled) {
  const std::uint64_t seed = hash_of(name);
  for (std::size_t i = shuffled.size(); i-- > 1;) {
    const double share = uniform({seed, 0, Draw::Shuffle, i});
    std::swap(shuffled[i], shuffled[static_cast<std::size_t>(share * static_cast<double>(i + 1))]);
  }
  return shuffled;
}

/// Deviations of Student's t. Each thread keeps those that it drew: an interval asks for dozens,
/// and for each of them twice.
const Draws& deviations_of(const std::string& name) {
  static const Draws kStrata =
      strata_of([](double share) { return t_quantile(share, kSpreadDegrees); });
  thread_local std::map<std::string, Draws> known;
  const auto [at, is_new] = known.try_emplace(name);
  if (is_new) at->second = shuffled_by(name, kStrata);
  return at->second;
}

/// Deviations of a normal distribution, in the same order as a name's deviations_of.
const Draws& normals_of(const std::string& name) {
  static const Draws kStrata = strata_of([](double share) { return normal_quantile(share); });
  thread_local std::map<std::string, Draws> known;
  const auto [at, is_new] = known.try_emplace(name);
  if (is_new) at->second = shuffled_by(name, kStrata);
  return at->second;
}

/// The factor that makes a joint normal draw one of Student's t.
const Draws& joint_tails() {
  static const Draws kTails =
      shuffled_by("tails of joint terms", strata_of([](double share) {
                    return std::sqrt(kSpreadDegrees / chi_squared_quantile(share, kSpreadDegrees));
                  }));
  return kTails;
}

/// The deviations of one of the joint terms.
Draws joint_deviations(const JointTerms& joint, std::size_t place) {
  Draws drawn(kSpreadDraws, 0);
  for (std::size_t other = 0; other <= place; ++other) {
    const Draws& its = normals_of(joint.names[other]);
    const double share = joint.root[place][other];
    for (std::size_t i = 0; i < drawn.size(); ++i) drawn[i] += share * its[i];
  }
  for (std::size_t i = 0; i < drawn.size(); ++i) drawn[i] *= joint_tails()[i];
  return drawn;
}

/// Error of a logarithm, at so many deviations.
double shift_of(double deviations, double above, double below) {
  return (deviations < 0 && below > 0 ? below : above) * deviations;
}

double quantile(Draws draws, double share) {
  const auto at = static_cast<std::ptrdiff_t>(share * static_cast<double>(draws.size() - 1) + 0.5);
  std::nth_element(draws.begin(), draws.begin() + at, draws.end());
  return draws[static_cast<std::size_t>(at)];
}

constexpr double kTail = (1 - kIntervalLevel) / 2;

bool has_outside(const SoftwareSpread& spread) {
  return std::any_of(spread.terms.begin(), spread.terms.end(),
                     [](const SpreadTerm& term) { return term.outside; });
}

/// Times one run with several sets of software costs.
class Timer {
 public:
  Timer(const Scenario& scenario, const Engine& engine) : engine_(engine) {
    if (scenario.compresses() && scenario.cluster.ranks() > 1) known_.emplace(scenario);
  }

  double time_of(const Scenario& scenario) {
    leave_if_stopped();
    const Plan plan = make_plan(scenario, {.costs = known_ ? &*known_ : nullptr});
    return summarize(plan, engine_.run(plan, scenario.cluster, scenario.world)).iteration.count();
  }

 private:
  const Engine& engine_;
  std::optional<KnownCosts> known_{};  // software changes no cost that the table has
};

/// A compressor's cost may hide behind communication at its value, and not at the upper end of its
/// interval. Where it adds more there than in proportion, the extra seconds begin at a bend.
/// Without it a compressor might lose with few bytes, and surely paid with many.
void find_bend(SpreadTerm& term, const StackTerm& of, const Scenario& inside, Timer& timer,
               double with_all) {
  const double most = std::min(term.most, std::exp(of.deviation * interval_reach()));
  constexpr double kNearMost = 0.8;
  if (kNearMost * most <= 1) return;
  const auto added_at = [&](double times) {
    Scenario other = inside;
    of.quantity->set(other, of.value * times);
    return timer.time_of(other) - with_all + (term.forecast ? term.seconds : 0);
  };
  const double added = added_at(most);
  if (added <= term.at(most)) return;
  term.beyond = (added - added_at(kNearMost * most)) / ((1 - kNearMost) * most);
  if (term.beyond > term.seconds)
    term.bend = std::max(1.0, (term.beyond * most - added) / (term.beyond - term.seconds));
}

/// Measures the time that each term adds to the iteration. For terms in the forecast: the time with
/// all of them less the time without this one, scaled so that together they add what all add
/// together. For the others: the time that the term would add to the forecast.
void measure(SoftwareSpread& spread, const std::vector<const StackTerm*>& terms,
             const Scenario& inside, const Scenario& physics, const Engine& engine) {
  Timer timer(inside, engine);
  const double with_all = timer.time_of(inside);
  double sum = 0;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    SpreadTerm& term = spread.terms[i];
    const ScenarioQuantity& quantity = *terms[i]->quantity;
    Scenario other = inside;
    quantity.set(other, term.forecast ? quantity.get(physics) : terms[i]->value);
    term.seconds = std::max(0.0, (term.forecast ? -1 : 1) * (timer.time_of(other) - with_all));
    if (term.forecast) sum += term.seconds;
  }
  const double added = std::max(0.0, with_all - timer.time_of(physics));
  for (SpreadTerm& term : spread.terms)
    if (term.forecast && sum > 0) term.seconds *= added / sum;
  for (std::size_t i = 0; i < terms.size(); ++i)
    if (terms[i]->quantity->of == ScenarioQuantity::Of::Costs)
      find_bend(spread.terms[i], *terms[i], inside, timer, with_all);
}

/// The compressor's costs, where their table says how far they may be off.
void add_costs(SoftwareSpread& spread, const Scenario& inside, const CostFactors& factors,
               const Engine& engine) {
  if (!factors.said()) return;
  Scenario dearer = inside;
  const double high = std::max(factors.high, 1.1);
  dearer.codec.encode_factor *= high;
  dearer.codec.decode_factor *= high;
  Timer timer(inside, engine);
  SpreadTerm costs;
  costs.name = "costs of " + std::string(inside.compressor->name);
  costs.seconds = std::max(0.0, timer.time_of(dearer) - timer.time_of(inside)) / (high - 1);
  costs.deviation = std::log(factors.high) / interval_reach();
  costs.deviation_below = -std::log(factors.low) / interval_reach();
  costs.forecast = false;
  costs.of_physics = true;
  spread.terms.push_back(costs);
}

/// A doubt about the cluster, by forecasts at its two ends.
void add_doubt(SoftwareSpread& spread, const LinkDoubt& doubt, const Scenario& inside,
               const Engine& engine) {
  Timer timer(inside, engine);
  const auto time_on = [&](const Cluster& cluster) {
    Scenario other = inside;
    other.cluster = cluster;
    return timer.time_of(other);
  };
  const LinkTime time = link_time(doubt, interval_reach(), time_on, inside.cluster);
  if (time.seconds <= 0) return;
  SpreadTerm term{doubt.name, time.seconds, time.above};
  term.deviation_below = time.below;
  term.forecast = false;
  term.of_physics = true;
  spread.terms.push_back(term);
}

/// Links that nobody measured. The same in all runs on the cluster.
void add_links(SoftwareSpread& spread, const Scenario& inside, const Engine& engine) {
  for (const LinkDoubt& doubt : link_doubts(inside, interval_reach()))
    add_doubt(spread, doubt, inside, engine);
}

/// Deviation of derived compute: nine of ten within 0.74 to 1.35 times its time. It is assumed, not
/// checked against measurements. The shares of an A100's peak that others publish of eight
/// transformers go from 30 to 63 %, six of them from 48 to 63 % (traces/iteration-*-a100.csv).
constexpr double kDerivedComputeDeviation = 0.15;

/// Deviations of times that are carried over to another GPU: to a newer one nine of ten from 0.49
/// to 1.44 times as long. Newer GPUs have arithmetic that older ones lack: assumed. ResNet-50 took
/// an A100 and an H100 1.4 times as long as is carried over from an RTX 3090 (lambda-resnet50). To
/// an older GPU the ends change places.
constexpr double kCarriedOverDeviation = 0.18;
constexpr double kCarriedOverDeviationByArithmetic = 0.35;
/// A V100's fp32 says little of what runs in mixed precision today: the low end is a quarter of it.
/// On an A100 ResNet-50 takes 0.68 times as long in TF32 as is carried over, and 0.26 in mixed
/// precision (measured-nvidia-examples, batch 256). So it is on a V100 itself: 0.36 in mixed
/// precision (raysgd-p3-amp of traces/unseen-trainings.csv, batch 128).
constexpr double kCarriedOverDeviationByPrecision = 0.65;

/// Deviation above a V100's fp32 of 2019: few take longer today. Assumed.
constexpr double kOldDeviationAbove = 0.05;
/// Deviation above times that are carried over to AMD's GPUs, whose software reaches less of their
/// data sheets. On a MI300A ResNet-50
/// took 3.5 times as long in bf16 as is carried over, and GPT-2 3.7 times
/// (traces/unseen-trainings.csv).
constexpr double kCarriedOverDeviationToAmd = 0.6;

/// Deviation of the time that a host takes to launch an iteration's kernels. Graphs of kernels take
/// none of it. Assumed.
constexpr double kLaunchesDeviation = 0.2;

/// By it the draws know the term that is of compute.
constexpr const char* kComputeOf = "compute of ";

bool is_of_compute(const SpreadTerm& term) { return term.name.starts_with(kComputeOf); }

/// The compute of a derived trace, or of one that is carried over to another GPU. The same in all
/// runs of that trace.
void add_compute(SoftwareSpread& spread, const Scenario& inside, const Engine& engine) {
  const bool derived = inside.payload.count == 0 && inside.trace->derived;
  const bool carried_over = inside.payload.count == 0 && inside.speed_derived;
  const bool by_host = inside.work_of_launching < 1;
  const bool old = inside.perhaps_in_fp32 && !carried_over;
  if (!derived && !carried_over && !by_host && !old) return;
  const double own = derived ? kDerivedComputeDeviation : 0;
  const bool newer = inside.cluster.compute_speed > 1;
  const double arithmetic = kCarriedOverDeviationByArithmetic;
  const double above = is_amd(gpu_generation_of(inside.cluster)) ? kCarriedOverDeviationToAmd
                       : newer                                   ? kCarriedOverDeviation
                                                                 : arithmetic;
  const double below = inside.carried_from_fp32() || old ? kCarriedOverDeviationByPrecision
                       : newer                           ? arithmetic
                                                         : kCarriedOverDeviation;
  const double launches = by_host ? kLaunchesDeviation : 0;
  const double reach = interval_reach();
  const double longer = carried_over ? above : old ? kOldDeviationAbove : 0;
  const double slower = std::exp(reach * std::hypot(own, longer, launches));
  double faster =
      std::exp(reach * std::hypot(own, carried_over || old ? below : 0)) / inside.work_of_launching;
  if (inside.least_compute > Seconds{0})  // a forecast below it stays
    faster = std::clamp(inside.compute() / inside.cluster.compute_speed / inside.least_compute, 1.0,
                        faster);
  LinkDoubt speed{kComputeOf + std::filesystem::path(inside.trace->name).stem().string(),
                  inside.cluster, inside.cluster, slower, faster};
  speed.slow.compute_speed /= slower;
  speed.fast.compute_speed *= faster;
  add_doubt(spread, speed, inside, engine);
}

/// Exchanges of Open MPI that may take turns. The interval goes from both ways at once to turns
/// throughout.
void add_turns(SoftwareSpread& spread, const Scenario& inside, const Engine& engine) {
  if (inside.library == nullptr || transport_of(inside.library->name) != Transport::Mpi) return;
  Timer timer(inside, engine);
  const auto time_at = [&](double share) {
    Scenario other = inside;
    other.cluster.turns_share = share;
    return timer.time_of(other);
  };
  const double without = time_at(0);
  const double all = time_at(1) - without;
  if (all <= 0) return;
  SpreadTerm turns;
  turns.name = "turns of exchanges";
  // A part of it may hide behind compute.
  turns.seconds = std::max(time_at(inside.cluster.turns_share) - without, all / 10);
  turns.deviation = std::log(all / turns.seconds) / interval_reach();
  turns.deviation_below =
      std::log(10) / interval_reach();  // a tenth at the low end, which is nearly none
  turns.forecast = false;
  turns.of_physics = true;
  spread.terms.push_back(turns);
}

/// The seconds that the iteration takes more by the algorithms that NCCL nearly took.
std::array<double, kNearChoices.size()> other_choice(const Scenario& inside, const Engine& engine) {
  std::array<double, kNearChoices.size()> longer{};
  if (!inside.nccl || inside.collective != nullptr || inside.payload.count > 0) return longer;
  if (inside.cluster.measured != nullptr) return longer;
  Timer timer(inside, engine);
  constexpr double kMatters = 0.01;  // of the iteration; all else is known no better
  const double first = timer.time_of(inside);
  for (std::size_t i = longer.size(); i-- > 0;) {
    Scenario other = inside;
    other.cluster.nearly_chosen = kNearChoices[i].within;
    longer[i] = timer.time_of(other) - first;
    if (std::abs(longer[i]) < kMatters * first) longer[i] = 0;
    // Without one among many there is none among fewer.
    if (i + 1 == longer.size() && longer[i] == 0) break;
  }
  return longer;
}

/// The same in all runs: NCCL sees one machine.
Draws choices_of(const SoftwareSpread& spread) {
  static const Draws kShares =
      shuffled_by("choice of NCCL", strata_of([](double share) { return share; }));
  Draws longer;
  for (const double share : kShares) {
    std::size_t i = kNearChoices.size();
    while (i > 0 && share >= kNearChoices[i - 1].chance) --i;
    longer.push_back(i == 0 ? 0 : spread.other_choice[i - 1]);
  }
  return longer;
}

/// The choices of links in doubt that may be known: none of them, each, several, all. A link that
/// is slower than it is taken to be makes a run longer, and a run that compute binds no shorter if
/// it is faster. So the doubt shifts draws to one side: intervals must not lose what lies on the
/// other.
std::vector<std::set<std::string>> choices_of_links(const SoftwareSpread& one,
                                                    const SoftwareSpread& other) {
  std::vector<std::set<std::string>> choices{{}};
  std::set<std::string> links;
  for (const SoftwareSpread* spread : {&one, &other})
    for (const SpreadTerm& term : spread->terms)
      if (is_link(term.name)) links.insert(term.name);
  for (const std::string& link : links)
    for (std::size_t i = choices.size(); i-- > 0;) {
      choices.push_back(choices[i]);
      choices.back().insert(link);
    }
  return choices;
}

SoftwareSpread with_known(SoftwareSpread spread, const std::set<std::string>& links) {
  std::erase_if(spread.terms, [&](const SpreadTerm& term) { return links.contains(term.name); });
  return spread;
}

/// The time of a collective alone may rest on measured ones of its cluster. Then these scatter, and
/// clusters that lie apart say nothing.
void know_measured_time(SoftwareSpread& spread, const Scenario& scenario) {
  if (scenario.payload.count == 0 || scenario.collective != nullptr) return;
  const CollectiveChoice choice(scenario.cluster, scenario.nccl, scenario.library);
  const std::optional<double> deviation =
      choice.measured_deviation(scenario.outcome, scenario.payload);
  if (!deviation) return;
  spread.discrepancy = spread.discrepancy_below = 0;
  spread.scatter = *deviation;
  spread.kind_variance = 0;
  spread.kinds.clear();
  spread.joint = nullptr;
}

/// True for a collective alone whose time is latency more than bandwidth.
bool is_small(const Scenario& scenario) {
  const int parts = scenario.outcome == Outcome::AllGathered ? scenario.cluster.ranks() : 1;
  return scenario.payload.count > 0 && scenario.payload * parts < kSmallCollective;
}

/// Another lab's trace is a guess of the job's: only its arithmetic bounds it.
double least_of(const Scenario& scenario, Seconds compute) {
  const bool stated =
      scenario.payload.count == 0 && scenario.trace->stated && scenario.cluster.compute_speed == 1;
  return stated ? kLeastOfCompute * compute.count() : scenario.least_compute.count();
}

/// False over TCP for a rate that no NIC has: a flow's, of which NCCL may open several.
bool is_of_nic(const Cluster& cluster) {
  if (network_kind_of(cluster) != NetworkKind::Tcp) return true;
  constexpr double kOverhead = .12;  // of headers
  return std::ranges::any_of(std::array{1, 10, 25, 40, 50, 100, 200, 400}, [&](int gigabits) {
    const double share = 8 * cluster.nic.bandwidth.value / (gigabits * 1e9);
    return share <= 1 && share > 1 - kOverhead;
  });
}

/// The time that NCCL's dense sums take on NICs of their nominal rate, at least: whatever the
/// algorithm, a node sends what the others need and receives what they have. 0 where something else
/// adds up or sends, and where the NICs' rate is in doubt itself.
double least_on_wire(const Scenario& scenario) {
  const Cluster& cluster = scenario.cluster;
  const bool known = cluster.measured == nullptr && cluster.platform_file.empty() &&
                     cluster.overrides().empty() && cluster.network_sharp == YesNo::No &&
                     is_of_nic(cluster) &&
                     std::ranges::none_of(cluster.deviations, [](const PropertyDeviation& each) {
                       return each.property.starts_with("nic");
                     });
  if (!known || cluster.nodes == 1 || !scenario.nccl || scenario.collective != nullptr ||
      scenario.compresses() || scenario.sharding.kind != Sharding::None)
    return 0;
  double bytes = static_cast<double>(scenario.payload.count);
  double times = 2;
  if (scenario.payload.count == 0) {
    for (const auto& tensor : scenario.model->tensors)
      bytes += static_cast<double>(tensor.sum_bytes().count);
    if (scenario.synchronises_every()) bytes *= scenario.accumulation;
  } else if (scenario.outcome == Outcome::AllGathered) {
    times = cluster.ranks();  // the payload is a rank's part
  } else if (scenario.outcome != Outcome::AllReduced) {
    times = scenario.outcome == Outcome::Scattered ? 1 : 0;
  }
  constexpr double kOverGoodput = 1.1;  // 10 over 9.43 Gb/s, 400 over 376; a cloud may give more
  const double rate = cluster.nics_per_node * cluster.nic.bandwidth.value * kOverGoodput;
  return times * bytes * (cluster.nodes - 1) / cluster.nodes / rate;
}

/// False for a share of NICs that sockets have of their own (`apply_stack`).
bool has_use(const Scenario& scenario, const StackTerm& term) {
  return std::ranges::any_of(scenario.stack_uses,
                             [&](const TermUse& use) { return use.term == &term; });
}

std::optional<std::size_t> joint_place(const SoftwareSpread& spread, const std::string& name) {
  return spread.joint == nullptr ? std::nullopt : spread.joint->place_of(name);
}

/// One that runs the scenario, the closed form if it can.
const Engine& engine_for(Scenario& scenario, const IterationResult& forecast) {
  const Engine& analytic = *find_engine("analytic");
  const Engine* engine = find_engine(forecast.engine);
  const Engine& own = engine != nullptr ? *engine : analytic;
  if (!scenario.cluster.platform_file.empty()) return own;
  // The world around the job is in the forecast; it changes little of what software adds.
  scenario.world = {};
  return analytic.refusal(make_plan(scenario), scenario.cluster, scenario.world).empty() ? analytic
                                                                                         : own;
}

}  // namespace

bool saves_nothing(const Plan& plan, const Scenario& scenario) {
  if (!scenario.compresses() || plan.buckets.empty()) return false;
  double elements = 0;
  double bytes = 0;
  for (const auto& tensor : scenario.model->tensors) {
    elements += tensor.frozen ? 0 : static_cast<double>(tensor.elements);
    bytes += static_cast<double>(tensor.sum_bytes().count);
  }
  return std::ranges::all_of(plan.buckets, [&](const PlannedBucket& bucket) {
    const double dense = bytes / elements * static_cast<double>(bucket.share);
    return static_cast<double>(bucket.payload.count) >= dense;
  });
}

std::vector<double> draws_of(const SoftwareSpread& spread, bool with_outside) {
  Draws times = choices_of(spread);
  for (double& time : times) time = std::max(0.0, spread.physics + time);
  Draws compute(kSpreadDraws, spread.compute);
  for (const SpreadTerm& term : spread.terms) {
    if (term.outside && !with_outside) continue;
    const std::optional<std::size_t> place = joint_place(spread, term.name);
    const Draws joint = place ? joint_deviations(*spread.joint, *place) : Draws();
    const Draws& its = place ? joint : deviations_of(term.name);
    if (term.of_physics) {
      const bool computes = is_of_compute(term);
      for (std::size_t i = 0; i < times.size(); ++i) {
        const double more =
            term.seconds *
            std::expm1((its[i] < 0 ? term.deviation_below : term.deviation) * its[i]);
        times[i] += more;
        if (computes) compute[i] += more;
      }
      continue;
    }
    const Draws& there = deviations_of("presence of " + term.name);
    const double at_most = term.presence < 1 ? quantile(there, term.presence) : INFINITY;
    for (std::size_t i = 0; i < times.size(); ++i)
      if (there[i] <= at_most)
        times[i] += term.at(
            std::min(term.most, std::exp(shift_of(its[i], term.deviation, term.deviation_below))));
  }
  const std::optional<std::size_t> place = joint_place(spread, kModelFactor);
  const Draws joint = place ? joint_deviations(*spread.joint, *place) : Draws();
  const Draws& shared = place ? joint : deviations_of("discrepancy of " + spread.group);
  for (std::size_t i = 0; i < times.size(); ++i)
    times[i] =
        compute[i] + std::exp(shift_of(shared[i], spread.discrepancy, spread.discrepancy_below)) *
                         (times[i] - compute[i]);
  for (const SoftwareSpread::KindError& kind : spread.kinds) {
    const std::optional<std::size_t> its = joint_place(spread, kind.name);
    const Draws drawn = its ? joint_deviations(*spread.joint, *its) : deviations_of(kind.name);
    for (std::size_t i = 0; i < times.size(); ++i) times[i] *= std::exp(kind.deviation * drawn[i]);
  }
  return times;
}

namespace {

ForecastInterval whole_interval(const SoftwareSpread& spread) {
  const auto blurred = [&](Draws times) {
    const Draws& scatter = deviations_of("scatter");
    const Draws& own = deviations_of("own");
    for (std::size_t i = 0; i < times.size(); ++i)
      times[i] = std::max(spread.least,
                          times[i] * std::exp(spread.scatter * scatter[i]) + spread.own * own[i]);
    return times;
  };
  const bool beyond = has_outside(spread);
  double low = spread.forecast;
  double high = spread.forecast;
  const Draws inside = blurred(draws_of(spread, false));
  low = std::min(low, quantile(inside, kTail));
  high = std::max(high, quantile(inside, 1 - kTail));
  if (beyond) high = std::max({high, quantile(blurred(draws_of(spread, true)), 1 - kTail)});
  // A forecast that leaves out terms says that they may be nothing. Physics alone is off, too.
  if (beyond || spread.forecast <= spread.physics) {
    SoftwareSpread bare = spread;
    std::erase_if(bare.terms, [](const SpreadTerm& term) { return !term.of_physics; });
    const Draws alone = blurred(draws_of(bare, false));
    low = std::min(low, quantile(alone, kTail));
    high = std::max(high, quantile(alone, 1 - kTail));
  }
  return {Seconds{low}, Seconds{high}};
}

}  // namespace

ForecastInterval interval_of(const SoftwareSpread& spread) {
  ForecastInterval widest{Seconds{INFINITY}, Seconds{0}};
  for (const std::set<std::string>& known : choices_of_links(spread, spread)) {
    const ForecastInterval each = whole_interval(with_known(spread, known));
    widest = {std::min(widest.low, each.low), std::max(widest.high, each.high)};
  }
  return widest;
}

namespace {

/// Runs of one kind whose forecasts are alike err together, but for this share (in variance): what
/// a run differs by when it is repeated. That is 0.5 % in the median of such pairs.
constexpr double kRepeatedShare = .02;
/// Forecasts that lie this far apart (in the logarithm) no longer share two thirds of what runs of
/// a kind have of their own.
constexpr double kApartLength = .05;

/// Correlation of the scatters of two runs. A compressed run computes what its dense run computes:
/// it shares what the kind shares, but no more however alike their times are, since encoding errs
/// by itself.
double shared_scatter(const SoftwareSpread& one, const SoftwareSpread& other) {
  if (one.scatter <= 0 || other.scatter <= 0) return 0;
  const bool same_compressor = one.kind.compressor == other.kind.compressor;
  RunKind others = other.kind;
  others.compressor = one.kind.compressor;
  const double apart = std::abs(std::log(one.forecast / other.forecast));
  const double alike = same_compressor ? std::exp(-apart / kApartLength) : 0;
  const auto shared_of = [&](const SoftwareSpread& run) {
    const double own = run.scatter * run.scatter - run.kind_variance;
    return run.kind_variance + alike * (1 - kRepeatedShare / (1 - kKindShare)) * own;
  };
  return kind_correlation(one.kind, others) * std::sqrt(shared_of(one) * shared_of(other)) /
         (one.scatter * other.scatter);
}

}  // namespace

namespace {

/// The least time that a draw of the kernels leaves of a run that is divided by.
double shortest_of(const SoftwareSpread& spread) {
  return std::max(spread.least, spread.forecast / 100);
}

/// The interval where it is known which links are in doubt.
RatioInterval known_interval(const SoftwareSpread& one, const SoftwareSpread& other) {
  const Draws& scatter = deviations_of("scatter");
  const Draws& apart = deviations_of("scatter of the other run");
  const double shared = shared_scatter(one, other);
  // One table's error is in the kernels of both runs if they have the same compressor.
  const bool same_kernels = one.kind.compressor == other.kind.compressor;
  const Draws& kernels = deviations_of("own");
  const Draws& others_kernels = same_kernels ? kernels : deviations_of("own of the other run");
  RatioInterval widest{INFINITY, 0};
  for (const bool one_beyond : {false, true})
    for (const bool other_beyond : {false, true}) {
      if ((one_beyond && !has_outside(one)) || (other_beyond && !has_outside(other))) continue;
      Draws ratios = draws_of(other, other_beyond);
      const Draws times = draws_of(one, one_beyond);
      for (std::size_t i = 0; i < ratios.size(); ++i) {
        const double others = shared * scatter[i] + std::sqrt(1 - shared * shared) * apart[i];
        const double others_time =
            ratios[i] * std::exp(other.scatter * others) + other.kernels * others_kernels[i];
        const double its_time =
            times[i] * std::exp(one.scatter * scatter[i]) + one.kernels * kernels[i];
        ratios[i] = std::max(other.least, others_time) / std::max(shortest_of(one), its_time);
      }
      widest.low = std::min(widest.low, quantile(ratios, kTail));
      widest.high = std::max(widest.high, quantile(ratios, 1 - kTail));
    }
  return widest;
}

}  // namespace

RatioInterval speedup_interval(const SoftwareSpread& one, const SoftwareSpread& other) {
  RatioInterval widest{INFINITY, 0};
  for (const std::set<std::string>& known : choices_of_links(one, other)) {
    const RatioInterval each = known_interval(with_known(one, known), with_known(other, known));
    widest = {std::min(widest.low, each.low), std::max(widest.high, each.high)};
  }
  constexpr double kSlower = 1 - 1e-6;  // it casts, and nothing is saved by that
  if (cannot_pay(one, other))
    return {std::min(widest.low, kSlower), std::min(widest.high, kSlower)};
  if (cannot_pay(other, one))
    return {std::max(widest.low, 1 / kSlower), std::max(widest.high, 1 / kSlower)};
  return widest;
}

std::optional<SoftwareSpread> spread_of(const Scenario& scenario, const Plan& plan,
                                        const IterationResult& forecast, Seconds jitter) {
  const bool known = scenario.stack != nullptr;
  const Stack* stack = known ? scenario.stack.get() : scenario.population.get();
  if (stack == nullptr || !forecast.lost.empty()) return std::nullopt;
  SoftwareSpread spread;
  spread.forecast = forecast.iteration.count();
  spread.group = scenario.cluster.name;
  const Seconds computed = computed_in(scenario, forecast.iteration / scenario.kind_factor);
  spread.compute = scenario.kind_factor * computed.count();
  // Learned runs may be faster than what was stated: then that is no bound.
  for (const double least : {least_of(scenario, computed), least_on_wire(scenario)})
    if (least <= spread.forecast) spread.least = std::max(spread.least, least);
  spread.discrepancy = stack->discrepancy;
  spread.discrepancy_below = stack->discrepancy_below;
  double scatter = stack->scatter;
  // Another cluster may be off by as much as the one that was learned, or as any.
  const bool elsewhere = is_learned_elsewhere(*stack, scenario.cluster);
  if (elsewhere) {
    spread.discrepancy = spread.discrepancy_below = std::max(
        stack->discrepancy_elsewhere, std::hypot(stack->discrepancy, std::log(*stack->factor)));
    scatter = std::max(scatter, stack->scatter_elsewhere);
  }
  const bool small = is_small(scenario);
  if (small && stack->small_scatter > 0) scatter = stack->small_scatter;
  if (small && stack->small_discrepancy > 0) {
    spread.discrepancy = std::max(elsewhere ? spread.discrepancy : 0, stack->small_discrepancy);
    spread.discrepancy_below = 0;
  }
  spread.scatter = scatter * scatter_share(spread.compute / spread.forecast);
  spread.kind = kind_of(scenario);
  spread.kind_variance = kKindShare * spread.scatter * spread.scatter;
  if (!stack->kinds.empty() && !elsewhere) {
    const KindEstimate kind = kind_estimate(stack->kinds, spread.kind);
    spread.kind_variance *= kind.unknown;
    for (const KindEstimate::Part& part : kind.parts)
      spread.kinds.push_back({part.known->name(), part.weight * part.known->deviation});
    spread.scatter *= std::sqrt(1 - kKindShare + kKindShare * kind.unknown);
  }
  if (auto joint = joint_terms(stack->correlations))
    spread.joint = std::make_shared<const JointTerms>(std::move(*joint));
  spread.kernels = kernel_deviation(plan, scenario).count();
  spread.own = std::hypot(spread.kernels, jitter.count());
  spread.costs_guessed =
      scenario.compresses() && scenario.compressing && scenario.costs->guessed_for_cpu;
  spread.saves_nothing = saves_nothing(plan, scenario);
  know_measured_time(spread, scenario);

  Scenario physics = without_stack(scenario);
  const Engine& engine = engine_for(physics, forecast);
  Scenario inside = physics;
  std::vector<const StackTerm*> terms = terms_for(*stack, scenario);
  if (known) std::erase_if(terms, [&](const StackTerm* term) { return !has_use(scenario, *term); });
  for (const StackTerm* term : terms) {
    const bool outside =
        std::any_of(scenario.stack_uses.begin(), scenario.stack_uses.end(),
                    [&](const TermUse& use) { return use.term == term && !use.outside.empty(); });
    spread.terms.push_back(
        {term->name(), 0, term->deviation, term->presence, outside, !outside && is_usual(*term)});
    spread.terms.back().deviation_below = term->deviation_below;
    if (term->value > 0)
      spread.terms.back().most = std::max(1.0, term->quantity->most / term->value);
    if (spread.terms.back().forecast) term->quantity->set(inside, term->value);
  }
  measure(spread, terms, inside, physics, engine);
  add_costs(spread, inside, cost_factors_of(plan), engine);
  add_compute(spread, inside, engine);
  add_turns(spread, inside, engine);
  add_links(spread, inside, engine);
  spread.other_choice = other_choice(inside, engine);
  for (double& longer : spread.other_choice) longer *= scenario.kind_factor * scenario.model_factor;
  // The factor of a cluster is on all but compute, and in the forecast.
  for (SpreadTerm& term : spread.terms) {
    const double factor = scenario.kind_factor * (is_of_compute(term) ? 1 : scenario.model_factor);
    term.seconds *= factor;
    term.beyond *= factor;
  }
  spread.physics = spread.forecast;
  if (known)  // which the forecast has in it
    for (const SpreadTerm& term : spread.terms)
      if (term.forecast) spread.physics = std::max(0.0, spread.physics - term.seconds);
  return spread;
}

}  // namespace gradcast
