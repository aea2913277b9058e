#include "sim/fit/leave_one_out.hpp"

#include <catch2/catch.hpp>

#include "tests/sim/fit/fit_rows.hpp"

using namespace gradcast;
using namespace gradcast::toy;

namespace {

FitStructure overhead(const char* name = "overhead", const char* applies_to = "") {
  return {name,
          FitErrors::Relative,
          "",
          {parameter("per_iteration_overhead", applies_to, "1ms", "0s", "100ms")},
          0};
}

/// Four models, dense and top-k, 5 ms too long each, with up to 2 ms more or less.
std::vector<FitRow> four_models() {
  std::vector<FitRow> rows = fit_table({"dense", "topk"}, 4);
  measure(rows, overhead(), Eigen::VectorXd::Constant(1, 5e-3));
  for (std::size_t i = 0; i < rows.size(); ++i)
    rows[i].run.iteration += Seconds{(static_cast<double>(i % 3) - 1) * 2e-3};
  return rows;
}

std::vector<double> forecast_seconds(const std::vector<FitRow>& rows) {
  const Engine& engine = *find_engine("analytic");
  std::vector<double> times;
  for (const FitForecast& each :
       leave_one_out(rows, LeaveOut::Model, overhead(), kSearch, engine).forecasts)
    times.push_back(each.result.iteration.count());
  return times;
}

}  // namespace

TEST_CASE("Runs are left out together with those of their model, row or source", "[fit]") {
  std::vector<FitRow> rows = fit_table({"dense", "topk"}, 2);
  rows[3].run.source = "elsewhere";
  using Groups = std::vector<std::vector<std::size_t>>;
  CHECK(groups_of(rows, LeaveOut::Model) == Groups{{0, 1}, {2, 3}});
  CHECK(groups_of(rows, LeaveOut::Row) == Groups{{0}, {1}, {2}, {3}});
  CHECK(groups_of(rows, LeaveOut::Source) == Groups{{0, 1, 2}, {3}});
  // A compressor at a density, whatever else differs: an upper bound goes with its run.
  const char* const compressors[] = {"topk", "dense", "topk", "topk"};
  const double densities[] = {0.01, 1, 0.1, 0.01};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].run.compressor = compressors[i];
    rows[i].run.density = densities[i];
  }
  rows[3].run.compressing = false;
  CHECK(groups_of(rows, LeaveOut::Method) == Groups{{0, 3}, {1}, {2}});
  CHECK(method_of(rows[3].run) == "topk 0.01");
}

TEST_CASE("A model's own forecasts do not heed its own measurements", "[fit]") {
  std::vector<FitRow> rows = four_models();
  const auto before = forecast_seconds(rows);
  for (FitRow& row : rows)
    if (row.run.model == "toy-2") row.run.iteration *= 2;
  const auto after = forecast_seconds(rows);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    INFO(rows[i].run.model);
    if (rows[i].run.model == "toy-2")
      CHECK(after[i] == before[i]);
    else
      CHECK(after[i] > before[i] * 1.01);
  }
}

TEST_CASE("Runs outside of the model are forecast, and nothing is fitted on them", "[fit]") {
  std::vector<FitRow> rows = four_models();
  const auto before = forecast_seconds(rows);
  rows.push_back(fit_row("dense", 1));
  rows.back().run.iteration = Seconds{3600};
  rows.back().run.outside = "the switch was on fire";
  const auto after = forecast_seconds(rows);
  REQUIRE(after.size() == before.size() + 1);
  for (std::size_t i = 0; i < before.size(); ++i) CHECK(after[i] == before[i]);
  CHECK(after.back() == Approx(before[0]));  // the dense run of the same model
}

// A fold's forecasts come from a process of its own. They must bring along the parts of their
// intervals: without these, every speedup was taken as sure.
TEST_CASE("A left-out forecast keeps what its interval is made of", "[fit]") {
  const std::vector<FitRow> rows = four_models();
  for (const FitForecast& each :
       leave_one_out(rows, LeaveOut::Model, overhead(), kSearch, *find_engine("analytic"))
           .forecasts) {
    const ForecastInterval interval = interval_about(each.result.iteration, each.deviations);
    CHECK(interval.high > each.result.iteration);
    CHECK(interval.low == each.low);
    CHECK(interval.high == each.high);
  }
}

// Every other run takes five times as long as the one before it: the errors of a fit would reach
// below the time that one GPU computes.
TEST_CASE("No interval of a fit reaches below what one GPU takes alone", "[fit]") {
  std::vector<FitRow> rows = four_models();
  for (std::size_t i = 1; i < rows.size(); i += 2) rows[i].run.iteration *= 5;
  bool reaches_it = false;
  for (const FitForecast& each :
       leave_one_out(rows, LeaveOut::Row, overhead(), kSearch, *find_engine("analytic"))
           .forecasts) {
    const double least = .97 * rows[0].scenario.compute().count();
    CHECK(each.low.count() >= Approx(least));
    reaches_it = reaches_it || each.low.count() == Approx(least);
  }
  CHECK(reaches_it);
}

// Four runs of Top-k are all too long or too short by the same, and there is none of dense. The
// error of a dense run is known from one compressor, so with one degree of freedom.
TEST_CASE("A compressor that no run of the fit has is less sure than one that it has", "[fit]") {
  const std::vector<FitRow> rows = four_models();
  const LeftOut by_method =
      leave_one_out(rows, LeaveOut::Method, overhead(), kSearch, *find_engine("analytic"));
  const LeftOut by_model =
      leave_one_out(rows, LeaveOut::Model, overhead(), kSearch, *find_engine("analytic"));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto width = [](const FitForecast& f) { return (f.high - f.low).count(); };
    CHECK(width(by_method.forecasts[i]) > width(by_model.forecasts[i]));
  }
}

TEST_CASE("The number of processes changes no forecast, to the last bit", "[fit]") {
  const std::vector<FitRow> rows = four_models();
  const Engine& engine = *find_engine("analytic");
  const LeftOut one = leave_one_out(rows, LeaveOut::Row, overhead(), kSearch, engine);
  const LeftOut three =
      leave_one_out(rows, LeaveOut::Row, overhead(), kSearch, engine, {.processes = 3});
  CHECK(three.whole.value().values == one.whole.value().values);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    CHECK(three.forecasts[i].result.iteration == one.forecasts[i].result.iteration);
    CHECK(three.forecasts[i].low == one.forecasts[i].low);
    CHECK(three.fits[i].covariance == one.fits[i].covariance);
  }
}

TEST_CASE("The fit on all runs is the same whether it is made beside folds or alone", "[fit]") {
  const std::vector<FitRow> rows = four_models();
  const LeftOut left =
      leave_one_out(rows, LeaveOut::Row, overhead(), kSearch, *find_engine("analytic"));
  CHECK(left.whole.value().values == fit_rows(pointers(rows), overhead(), kSearch).values);
  CHECK(left.whole.value().rows == pointers(rows));
}

TEST_CASE("A leave-one-out that is stopped has the folds that were done", "[fit]") {
  const std::vector<FitRow> rows = four_models();  // 8 folds, after the fit on all runs
  std::size_t finished = 0;
  ManyFits many;
  many.progress = [&](std::size_t done, std::size_t all) {
    finished = done;
    CHECK(all == 9);
  };
  many.stop = [&] { return finished >= 4; };
  const LeftOut left =
      leave_one_out(rows, LeaveOut::Row, overhead(), kSearch, *find_engine("analytic"), many);
  CHECK(left.whole.has_value());
  CHECK(left.done == std::vector<bool>{true, true, true, false, false, false, false, false});
  CHECK(left.forecasts[2].result.iteration > Seconds{0});
  CHECK(left.forecasts[3].result.iteration == Seconds{0});
  CHECK_FALSE(
      nested_leave_one_out(rows, LeaveOut::Row, {overhead(), overhead("b")}, kSearch, many));
}

TEST_CASE("One group alone leaves nothing to fit on", "[fit]") {
  const std::vector<FitRow> rows = fit_table({"dense", "topk"}, 1);
  const Engine& engine = *find_engine("analytic");
  CHECK_THROWS_WITH(leave_one_out(rows, LeaveOut::Model, overhead(), kSearch, engine),
                    Catch::Contains("one model"));
}

TEST_CASE("A nested choice takes in each fold what was best without it", "[fit]") {
  const std::vector<FitRow> rows = four_models();
  // The second structure can put the overhead on top-k only: worse wherever one looks.
  const std::vector<FitStructure> both{overhead("half", "compressor=topk"), overhead()};
  const Nested nested = nested_leave_one_out(rows, LeaveOut::Model, both, kSearch).value();
  CHECK(nested.chosen == std::vector<std::string>(4, "overhead"));
  const auto times = forecast_seconds(rows);
  for (std::size_t i = 0; i < rows.size(); ++i)
    CHECK(nested.errors_percent[i] ==
          Approx(100 * (times[i] / rows[i].run.iteration.count() - 1)).margin(1e-4));
  CHECK(nested.mean_absolute[0] > nested.mean_absolute[1]);
}

TEST_CASE("The mean errors of structures are of what the model claims alone", "[fit]") {
  std::vector<FitRow> rows = four_models();
  const std::vector<FitStructure> both{overhead("half", "compressor=topk"), overhead()};
  const Nested before = nested_leave_one_out(rows, LeaveOut::Model, both, kSearch).value();
  double sum = 0;
  for (const double error : before.errors_percent) sum += std::abs(error);
  CHECK(before.mean_absolute[1] == Approx(sum / 8));  // eight runs, all forecast by the second
  // A run that no structure is held against has no error, and not one of 0 either.
  rows.push_back(fit_row("dense", 1));
  rows.back().run.iteration = Seconds{3600};
  rows.back().run.outside = "the switch was on fire";
  const Nested after = nested_leave_one_out(rows, LeaveOut::Model, both, kSearch).value();
  CHECK(after.mean_absolute[0] == before.mean_absolute[0]);
  CHECK(after.mean_absolute[1] == before.mean_absolute[1]);
}

TEST_CASE("The bootstrap of equal errors knows their mean exactly", "[fit]") {
  const auto interval = bootstrap_mean_absolute({-3, 3, 3, -3}, {{0, 1}, {2, 3}}, 1);
  CHECK(interval.low == 3);
  CHECK(interval.high == 3);
}

TEST_CASE("The bootstrap draws whole groups: what errs together counts as one", "[fit]") {
  // Two groups, of errors 1 and 9 only: both drawn alike in half of all draws.
  const std::vector<double> errors{1, 1, 1, 1, 9, 9, 9, 9};
  const auto grouped = bootstrap_mean_absolute(errors, {{0, 1, 2, 3}, {4, 5, 6, 7}}, 1);
  CHECK(grouped.low == 1);
  CHECK(grouped.high == 9);
  std::vector<std::vector<std::size_t>> each;
  for (std::size_t i = 0; i < errors.size(); ++i) each.push_back({i});
  // The mean of 8 single draws is 5 with deviation 4 / root 8 = 1.41: 2.2 to 7.8.
  const auto single = bootstrap_mean_absolute(errors, each, 1);
  CHECK(single.low == Approx(2).margin(1.01));
  CHECK(single.high == Approx(8).margin(1.01));
  CHECK(single.low > 1);
}

TEST_CASE("The same seed draws the same interval", "[fit]") {
  const std::vector<double> errors{1, 2, 3, 4, 5};
  const std::vector<std::vector<std::size_t>> groups{{0, 1}, {2}, {3, 4}};
  CHECK(bootstrap_mean_absolute(errors, groups, 7).low ==
        bootstrap_mean_absolute(errors, groups, 7).low);
}
