#include "sim/answers/doubt_json.hpp"

#include <cmath>
#include <memory>
#include <utility>

#include "sim/base/error.hpp"

namespace gradcast {
namespace {

/// A number of a line. Larger ones than any forecast has would overflow when an interval is drawn.
double number(const Json& json, double most = 1e9) {
  const double value = json.get<double>();
  if (std::abs(value) <= most) return value;
  throw ValueError("a number of 'doubt' is larger than any forecast has");
}

constexpr double kLargestDeviation = 20;  // of a logarithm

double deviation(const Json& json) { return number(json, kLargestDeviation); }

// The members are named one by one: a new one does not compile here before it is kept.

Json to_json(const SpreadTerm& term) {
  const auto& [name, seconds, deviation, presence, outside, forecast, of_physics, deviation_below,
               most, beyond, bend] = term;
  return {{"name", name},
          {"seconds", seconds},
          {"deviation", deviation},
          {"presence", presence},
          {"outside", outside},
          {"forecast", forecast},
          {"of_physics", of_physics},
          {"deviation_below", deviation_below},
          {"most", std::isfinite(most) ? Json(most) : Json()},
          {"beyond", beyond},
          {"bend", bend}};
}

SpreadTerm term_from(const Json& json) {
  SpreadTerm term;
  auto& [name, seconds, its_deviation, presence, outside, forecast, of_physics, deviation_below,
         most, beyond, bend] = term;
  name = json.at("name");
  seconds = number(json.at("seconds"));
  its_deviation = deviation(json.at("deviation"));
  presence = number(json.at("presence"), 1);
  if (presence < 0) throw ValueError("a share of 'doubt' is below 0");
  outside = json.at("outside");
  forecast = json.at("forecast");
  of_physics = json.at("of_physics");
  deviation_below = deviation(json.at("deviation_below"));
  if (!json.at("most").is_null()) most = number(json.at("most"));
  beyond = number(json.at("beyond"));
  bend = number(json.at("bend"));
  return term;
}

Json to_json(const RunKind& kind) {
  const auto& [compressor, compute, ranks] = kind;
  return {{"compressor", compressor}, {"compute", compute.count()}, {"ranks", ranks}};
}

RunKind kind_from(const Json& json) {
  RunKind kind;
  auto& [compressor, compute, ranks] = kind;
  compressor = json.at("compressor");
  compute = Seconds{number(json.at("compute"))};
  ranks = static_cast<int>(number(json.at("ranks")));
  return kind;
}

Json to_json(const SoftwareSpread& spread) {
  const auto& [forecast, physics, compute, least, other_choice, terms, group, discrepancy,
               discrepancy_below, scatter, kinds, kind, kind_variance, joint, own, kernels,
               costs_guessed, saves_nothing] = spread;
  Json json{{"forecast", forecast},
            {"physics", physics},
            {"compute", compute},
            {"least", least},
            {"other_choice", other_choice},
            {"terms", Json::array()},
            {"group", group},
            {"discrepancy", discrepancy},
            {"discrepancy_below", discrepancy_below},
            {"scatter", scatter},
            {"kinds", Json::array()},
            {"kind", to_json(kind)},
            {"kind_variance", kind_variance},
            {"own", own},
            {"kernels", kernels}};
  for (const SpreadTerm& term : terms) json["terms"].push_back(to_json(term));
  for (const auto& [name, its_deviation] : kinds) json["kinds"].push_back({name, its_deviation});
  if (costs_guessed) json["costs_guessed"] = true;
  if (saves_nothing) json["saves_nothing"] = true;
  if (joint != nullptr) json["joint"] = {{"names", joint->names}, {"root", joint->root}};
  return json;
}

JointTerms joint_from(const Json& json) {
  JointTerms joint;
  joint.names = json.at("names").get<std::vector<std::string>>();
  for (std::size_t i = 0; i < joint.names.size(); ++i) {
    const Json& row = json.at("root").at(i);
    if (row.size() != i + 1) throw ValueError("'joint' of 'doubt' is no triangle");
    joint.root.emplace_back();
    for (const Json& share : row) joint.root.back().push_back(number(share, kLargestDeviation));
  }
  if (json.at("root").size() != joint.names.size())
    throw ValueError("'joint' of 'doubt' is no triangle");
  return joint;
}

SoftwareSpread spread_from(const Json& json) {
  SoftwareSpread spread;
  auto& [forecast, physics, compute, least, other_choice, terms, group, discrepancy,
         discrepancy_below, scatter, kinds, kind, kind_variance, joint, own, kernels, costs_guessed,
         saves_nothing] = spread;
  forecast = number(json.at("forecast"));
  physics = number(json.at("physics"));
  compute = number(json.at("compute"));
  least = number(json.at("least"));
  const Json& choices = json.at("other_choice");  // one number until 2026-11
  for (std::size_t i = 0; i < other_choice.size(); ++i)
    other_choice[i] = number(choices.is_array() ? choices.at(i) : choices);
  for (const Json& term : json.at("terms")) terms.push_back(term_from(term));
  group = json.at("group");
  discrepancy = deviation(json.at("discrepancy"));
  discrepancy_below = deviation(json.at("discrepancy_below"));
  scatter = deviation(json.at("scatter"));
  for (const Json& its : json.at("kinds")) kinds.push_back({its.at(0), deviation(its.at(1))});
  kind = kind_from(json.at("kind"));
  kind_variance = deviation(json.at("kind_variance"));
  if (json.contains("joint"))
    joint = std::make_shared<const JointTerms>(joint_from(json.at("joint")));
  own = number(json.at("own"));
  if (json.contains("kernels")) kernels = number(json.at("kernels"));  // since 2026-11
  costs_guessed = json.value("costs_guessed", false);
  saves_nothing = json.value("saves_nothing", false);
  return spread;
}

}  // namespace

Json to_json(const ForecastDoubt& doubt) {
  Json json = Json::object();
  if (doubt.deviations) {
    json["own"] = doubt.deviations->own.count();
    json["shared"] = Json::array();
    for (const Seconds shift : doubt.deviations->shared) json["shared"].push_back(shift.count());
  }
  if (doubt.spread) json["spread"] = to_json(*doubt.spread);
  return json;
}

ForecastDoubt doubt_from(const Json& json) {
  ForecastDoubt doubt;
  if (json.contains("own")) {
    doubt.deviations = ForecastDeviations{Seconds{number(json.at("own"))}, {}};
    for (const Json& shift : json.at("shared"))
      doubt.deviations->shared.emplace_back(number(shift));
  }
  if (json.contains("spread")) doubt.spread = spread_from(json.at("spread"));
  return doubt;
}

}  // namespace gradcast
