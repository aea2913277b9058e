#include "sim/forecast/verdict.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "sim/base/text.hpp"
#include "sim/forecast/link_doubt.hpp"

namespace gradcast {
namespace {

/// Shares of an iteration by which a term may make it longer than its forecast, and shorter.
struct Reach {
  double longer = 0;
  double shorter = 0;
};

Reach reach_of(const SpreadTerm& term, double iteration) {
  constexpr double kDeviations = 2;  // Student's t of 5 degrees: 90 % lie within 2.015
  const bool own = term.of_physics || term.deviation_below > 0;  // as draws take it
  const double below = own ? term.deviation_below : term.deviation;
  const bool may_be_none = term.outside || term.presence < 1;
  const double high = term.at(std::exp(kDeviations * term.deviation));
  const double low = may_be_none ? 0 : term.at(std::exp(-kDeviations * below));
  const double forecast = term.forecast && !term.outside ? term.at(1) : 0;
  return {std::max(0.0, high - forecast) / iteration, std::max(0.0, forecast - low) / iteration};
}

/// The reach of each measurement towards the end of the interval that decides: the low end of a
/// speedup above 1, and the high end of one below. A term that moves both runs counts by the
/// difference.
class Reaches {
 public:
  Reaches(std::string name, std::string other, bool of_low_end)
      : names_{std::move(name), std::move(other)}, of_low_end_(of_low_end) {}

  void add(const std::string& term, const Reach& reach, bool of_other) {
    Moved& moved = moved_[term];
    const double sign = of_other ? -1 : 1;
    moved.longer += sign * reach.longer;
    moved.shorter += sign * reach.shorter;
    moved.only_its = moved.only_its && !of_other;
  }

  /// The measurement that settles most; "" where nothing is open.
  std::string first() const {
    std::map<std::string, double> squares;
    for (const auto& [term, moved] : moved_) {
      // A speedup falls where its run takes longer, or the other one less.
      const double by = of_low_end_ ? std::max({0.0, moved.longer, -moved.shorter})
                                    : std::max({0.0, moved.shorter, -moved.longer});
      squares[settled_by(term, moved.only_its)] += by * by;
    }
    const auto most =
        std::max_element(squares.begin(), squares.end(),
                         [](const auto& one, const auto& two) { return one.second < two.second; });
    return most == squares.end() || most->second <= 0 ? "" : most->first;
  }

 private:
  struct Moved {
    double longer = 0;  // its iteration's over the other's
    double shorter = 0;
    bool only_its = true;
  };

  std::string settled_by(const std::string& term, bool only_its) const {
    const std::size_t of = term.find(" of ");
    const std::string what = term.substr(0, of);
    if (what == "compute") return "one iteration of one GPU alone";
    if (is_link_of_nccl(term))
      return "what this cluster's links reach (nccl-tests, gradcast import)";
    if (is_link(term)) return run_with("dense");  // by Gloo or MPI, which nccl-tests cannot run
    if (what == "costs")
      return "the kernels of " + term.substr(of + 4) + " on this GPU (gradcast calibrate)";
    if (what == "sizes")
      return "the kernels of " + term.substr(of + 4) +
             " at this run's sizes (gradcast calibrate --models)";
    if (of != std::string::npos && what != "discrepancy") {
      const std::string its = term.substr(of + 4);
      return run_with(its.substr(0, its.find(" by ")));
    }
    return run_with(only_its ? names_.first : names_.second);
  }

  std::pair<std::string, std::string> names_;
  bool of_low_end_;
  std::map<std::string, Moved> moved_;
};

void add_all(Reaches& reaches, const SoftwareSpread& spread, bool of_other) {
  if (spread.forecast <= 0) return;
  for (const SpreadTerm& term : spread.terms)
    reaches.add(term.name, reach_of(term, spread.forecast), of_other);
  const double sizes = 2 * spread.kernels / spread.forecast;
  if (sizes > 0) reaches.add("sizes of " + spread.kind.compressor, {sizes, sizes}, of_other);
  SpreadTerm modelled;
  modelled.seconds = std::max(0.0, spread.forecast - spread.compute);
  modelled.deviation = spread.discrepancy;
  modelled.deviation_below = spread.discrepancy_below;
  reaches.add("discrepancy of " + spread.group, reach_of(modelled, spread.forecast), of_other);
}

bool is_guessed(const ForecastDoubt& doubt) { return doubt.spread && doubt.spread->costs_guessed; }

constexpr std::array kAllPays = {Pays::Yes, Pays::No, Pays::CannotBeTold};

}  // namespace

std::string to_text(Pays pays) {
  if (pays == Pays::CannotBeTold) return "cannot be told";
  return pays == Pays::Yes ? "surely pays" : "surely does not pay";
}

std::optional<Pays> pays_in(const std::string& text) {
  for (const Pays pays : kAllPays)
    if (text == to_text(pays)) return pays;
  return std::nullopt;
}

std::string yes_or_no(Pays pays) {
  return pays == Pays::Yes ? "yes" : pays == Pays::No ? "no" : "";
}

Pays pays_by(const std::optional<RatioInterval>& speedup, bool costs_known, double worth) {
  if (!speedup) return Pays::CannotBeTold;
  if (speedup->high < worth) return Pays::No;
  return speedup->low > 1 && costs_known ? Pays::Yes : Pays::CannotBeTold;
}

Pays pays_by(const std::optional<RatioInterval>& speedup, const ForecastDoubt& its,
             const ForecastDoubt& other, bool costs_known, double worth) {
  if (is_guessed(other)) return Pays::CannotBeTold;
  return pays_by(speedup, costs_known && !is_guessed(its), worth);
}

Pays either_of(Pays one, Pays other) {
  if (one == Pays::Yes || other == Pays::Yes) return Pays::Yes;
  return one == Pays::No ? other : one;
}

std::string words_of(const Verdict& verdict) {
  return to_text(verdict.pays) + (verdict.measure.empty() ? "" : ": measure " + verdict.measure);
}

Verdict verdict_on(const std::string& name, const Judged& its, const Judged& other,
                   bool costs_known) {
  Verdict verdict;
  verdict.speedup = speedup_interval(its.iteration, its.doubt, other.iteration, other.doubt);
  verdict.pays = pays_by(verdict.speedup, its.doubt, other.doubt, costs_known);
  if (verdict.pays != Pays::CannotBeTold) return verdict;
  verdict.measure = guessed_measure(its.doubt, other.doubt);
  if (verdict.measure.empty())
    verdict.measure = costs_known ? measure_first(name, its, other) : run_with(name);
  return verdict;
}

std::string run_with(const std::string& name) {
  return (name == "dense" ? "a dense run" : "one run with " + name) + " on this cluster";
}

std::string measure_on_cpu(const std::string& compressor) {
  return "the kernels of " + compressor + " on this CPU (gradcast calibrate --device cpu)";
}

std::string guessed_measure(const ForecastDoubt& its, const ForecastDoubt& other) {
  for (const ForecastDoubt* doubt : {&its, &other})
    if (is_guessed(*doubt)) return measure_on_cpu(doubt->spread->kind.compressor);
  return "";
}

std::string measure_first(const std::string& name, const Judged& its, const Judged& other,
                          const std::string& others_name) {
  const std::string both =
      (others_name == "dense" ? "a dense run" : "one run with " + others_name) + " and one with " +
      name + " on this cluster";
  if (!its.doubt.spread || !other.doubt.spread) return both;
  Reaches reaches(name, others_name, its.iteration <= other.iteration);
  add_all(reaches, *its.doubt.spread, false);
  add_all(reaches, *other.doubt.spread, true);
  const std::string first = reaches.first();
  return first.empty() ? both : first;
}

std::vector<std::string> terms_in(const std::string& list) {
  std::vector<std::string> terms;
  if (list.empty()) return terms;
  for (std::string term : split_words(list, ',')) {
    term.erase(0, std::min(term.size(), term.find_first_not_of(' ')));
    if (!term.empty() && std::find(terms.begin(), terms.end(), term) == terms.end())
      terms.push_back(term);
  }
  return terms;
}

std::string no_data_words(const std::string& terms) {
  const std::size_t count = terms_in(terms).size();
  if (count == 0) return "";
  return "no data for " + std::to_string(count) + " software cost" + (count == 1 ? "" : "s") +
         " here";
}

}  // namespace gradcast
