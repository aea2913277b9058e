#include "sim/forecast/verdict.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "sim/base/text.hpp"

namespace gradcast {
namespace {

/// Half the range that a term may move an iteration by, as a share of the iteration.
double reach_of(const SpreadTerm& term, double iteration) {
  constexpr double kDeviations = 2;  // Student's t of 5 degrees: 90 % lie within 2.015
  const double below = term.deviation_below > 0 ? term.deviation_below : term.deviation;
  const bool may_be_none = term.outside || term.presence < 1;
  const double high = std::exp(kDeviations * term.deviation);
  const double low = may_be_none ? 0 : std::exp(-kDeviations * below);
  return term.seconds * (high - low) / 2 / iteration;
}

/// What a measurement would settle.
enum class Settles { Choice, Kernels, Compute, Cluster };

Settles settles(const std::string& term, const std::string& name) {
  if (term.starts_with("costs of ")) return Settles::Kernels;
  if (term.starts_with("compute of ")) return Settles::Compute;
  return term.ends_with(" of " + name) ? Settles::Choice : Settles::Cluster;
}

/// By how much each term moves the logarithm of the speedup: a term of both runs by the difference.
std::map<std::string, double> reaches_of(const SoftwareSpread& its, const SoftwareSpread& other) {
  std::map<std::string, double> reaches;
  for (const auto& [spread, sign] : {std::pair{&its, 1.0}, std::pair{&other, -1.0}}) {
    if (spread->forecast <= 0) continue;
    for (const SpreadTerm& term : spread->terms)
      reaches[term.name] += sign * reach_of(term, spread->forecast);
    const double modelled = std::max(0.0, spread->forecast - spread->compute);
    reaches["discrepancy of " + spread->group] +=
        sign * reach_of({"", modelled, spread->discrepancy, 1, false, true, false,
                         spread->discrepancy_below},
                        spread->forecast);
  }
  return reaches;
}

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

Pays pays_by(const std::optional<RatioInterval>& speedup, bool costs_known) {
  if (!speedup) return Pays::CannotBeTold;
  if (speedup->high < 1) return Pays::No;
  return speedup->low > 1 && costs_known ? Pays::Yes : Pays::CannotBeTold;
}

std::string words_of(const Verdict& verdict) {
  return to_text(verdict.pays) + (verdict.measure.empty() ? "" : ": measure " + verdict.measure);
}

Verdict verdict_on(const std::string& name, const Judged& its, const Judged& other,
                   bool costs_known) {
  Verdict verdict;
  verdict.speedup = speedup_interval(its.iteration, its.doubt, other.iteration, other.doubt);
  verdict.pays = pays_by(verdict.speedup, costs_known);
  if (verdict.pays == Pays::CannotBeTold)
    verdict.measure =
        costs_known ? measure_first(name, its, other) : "one run with " + name + " on this cluster";
  return verdict;
}

std::string measure_first(const std::string& name, const Judged& its, const Judged& other) {
  const std::string both = "a dense run and one with " + name + " on this cluster";
  if (!its.doubt.spread || !other.doubt.spread) return both;
  std::map<Settles, double> squares;
  for (const auto& [term, reach] : reaches_of(*its.doubt.spread, *other.doubt.spread))
    squares[settles(term, name)] += reach * reach;
  const auto most =
      std::max_element(squares.begin(), squares.end(),
                       [](const auto& one, const auto& two) { return one.second < two.second; });
  if (most == squares.end() || most->second <= 0) return both;
  switch (most->first) {
    case Settles::Choice:
      return "one run with " + name + " on this cluster";
    case Settles::Kernels:
      return "the kernels of " + name + " on this GPU (gradcast calibrate)";
    case Settles::Compute:
      return "one iteration of one GPU alone";
    case Settles::Cluster:
      break;
  }
  return "a dense run on this cluster";
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
