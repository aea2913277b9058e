#include "sim/sweep/doubt_json.hpp"

#include <array>
#include <cmath>
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

/// The seconds of a spread, and the deviations of its logarithms.
constexpr std::array kSeconds = {&SoftwareSpread::forecast, &SoftwareSpread::physics,
                                 &SoftwareSpread::compute, &SoftwareSpread::own};
constexpr std::array kDeviations = {&SoftwareSpread::discrepancy,
                                    &SoftwareSpread::discrepancy_below, &SoftwareSpread::scatter};

Json to_json(const SoftwareSpread& spread) {
  Json json{{"group", spread.group}};
  for (const auto member : kSeconds) json["seconds"].push_back(spread.*member);
  for (const auto member : kDeviations) json["deviations"].push_back(spread.*member);
  json["terms"] = Json::array();
  for (const SpreadTerm& term : spread.terms)
    json["terms"].push_back({term.name, term.seconds, term.deviation, term.deviation_below,
                             term.presence, term.outside, term.forecast, term.of_physics});
  if (spread.joint != nullptr)
    json["joint"] = {{"names", spread.joint->names}, {"root", spread.joint->root}};
  return json;
}

SpreadTerm term_from(const Json& json) {
  SpreadTerm term;
  term.name = json.at(0);
  term.seconds = number(json.at(1));
  term.deviation = number(json.at(2), kLargestDeviation);
  term.deviation_below = number(json.at(3), kLargestDeviation);
  term.presence = number(json.at(4), 1);
  if (term.presence < 0) throw ValueError("a share of 'doubt' is below 0");
  term.outside = json.at(5);
  term.forecast = json.at(6);
  term.of_physics = json.at(7);
  return term;
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
  spread.group = json.at("group");
  for (std::size_t i = 0; i < kSeconds.size(); ++i)
    spread.*kSeconds[i] = number(json.at("seconds").at(i));
  for (std::size_t i = 0; i < kDeviations.size(); ++i)
    spread.*kDeviations[i] = number(json.at("deviations").at(i), kLargestDeviation);
  for (const Json& term : json.at("terms")) spread.terms.push_back(term_from(term));
  if (json.contains("joint"))
    spread.joint = std::make_shared<const JointTerms>(joint_from(json.at("joint")));
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
