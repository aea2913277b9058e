#include "sim/breakeven/contest.hpp"

#include <charconv>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <utility>

#include "kernels/normal_quantile.hpp"
#include "sim/answers/doubt_json.hpp"

namespace gradcast {
namespace {

/// Each field with its length before it: "3:abc".
void put(std::string& packed, const std::string& field) {
  packed += std::to_string(field.size()) + ":" + field;
}

void put(std::string& packed, double number) { put(packed, number_to_text(number)); }

class Fields {
 public:
  explicit Fields(const std::string& packed) : packed_(packed) {}

  bool more() const { return at_ < packed_.size(); }

  std::string text() {
    std::size_t size = 0;
    const char* begin = packed_.data() + at_;
    const char* end = packed_.data() + packed_.size();
    const auto [colon, error] = std::from_chars(begin, end, size);
    if (error != std::errc() || colon == end || *colon != ':' ||
        static_cast<std::size_t>(end - colon - 1) < size)
      throw std::logic_error("these are no packed forecasts");
    at_ = static_cast<std::size_t>(colon + 1 - packed_.data()) + size;
    return {colon + 1, size};
  }

  double number() { return parse_number(text()); }

 private:
  const std::string& packed_;
  std::size_t at_ = 0;
};

}  // namespace

RunForecast forecast_of(const Evaluation& evaluation) {
  const ForecastDoubt doubt = evaluation.software_doubt();
  return {evaluation.result.iteration,
          doubt.deviations,
          evaluation.ranks,
          evaluation.result.engine,
          evaluation.evidence,
          evaluation.outside,
          evaluation.problem,
          evaluation.outside_seen,
          doubt.spread,
          ""};
}

std::string pack(const std::vector<RunForecast>& forecasts) {
  std::string packed;
  for (const RunForecast& forecast : forecasts) {
    put(packed, forecast.iteration.count());
    put(packed, forecast.ranks);
    for (const std::string* text : {&forecast.engine, &forecast.evidence, &forecast.outside,
                                    &forecast.problem, &forecast.outside_seen, &forecast.schedule})
      put(packed, *text);
    put(packed, to_json(ForecastDoubt{forecast.deviations, forecast.spread}).dump());
  }
  return packed;
}

std::vector<RunForecast> unpack_forecasts(const std::string& packed) {
  std::vector<RunForecast> forecasts;
  for (Fields fields(packed); fields.more();) {
    RunForecast forecast;
    forecast.iteration = Seconds{fields.number()};
    forecast.ranks = static_cast<int>(fields.number());
    for (std::string* text : {&forecast.engine, &forecast.evidence, &forecast.outside,
                              &forecast.problem, &forecast.outside_seen, &forecast.schedule})
      *text = fields.text();
    ForecastDoubt doubt = doubt_from(Json::parse(fields.text()));
    forecast.deviations = std::move(doubt.deviations);
    forecast.spread = std::move(doubt.spread);
    forecasts.push_back(forecast);
  }
  return forecasts;
}

std::optional<double> advantage(const RunForecast& its, const RunForecast& other) {
  if (!its.answered() || !other.answered()) return std::nullopt;
  double ahead = std::log(other.iteration / its.iteration);
  if (cannot_pay(its.spread, other.spread)) ahead = std::min(ahead, 0.);
  if (cannot_pay(other.spread, its.spread)) ahead = std::max(ahead, 0.);
  return std::abs(ahead) <= kTie ? 0 : ahead;
}

std::optional<Seconds> deviation_of_difference(const RunForecast& one, const RunForecast& other) {
  if (!one.answered() || !other.answered() || !one.deviations || !other.deviations)
    return std::nullopt;
  return Seconds{std::sqrt(variance_of_difference(*one.deviations, *other.deviations))};
}

std::optional<RatioInterval> speedup_of(const RunForecast& its, const RunForecast& other) {
  if (!its.answered() || !other.answered()) return std::nullopt;
  return speedup_interval(its.iteration, {its.deviations, its.spread}, other.iteration,
                          {other.deviations, other.spread});
}

std::optional<double> lack_of_difference(const RunForecast& one, const RunForecast& other) {
  if (one.spread && other.spread) {
    const auto faster = speedup_of(one, other);
    if (!faster) return std::nullopt;
    return std::min(1 - faster->low, faster->high - 1);
  }
  const std::optional<Seconds> deviation = deviation_of_difference(one, other);
  if (!deviation) return std::nullopt;
  const double deviations_needed = -normal_quantile((1 - kIntervalLevel) / 2);
  const double apart = std::abs((one.iteration - other.iteration).count());
  return (deviations_needed * deviation->count() - apart) / one.iteration.count();
}

}  // namespace gradcast
