// Three runs of one's own against published runs that no stack has seen: their effect on the
// forecasts of the other runs of the same source.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sim/base/random.hpp"
#include "sim/base/statistics.hpp"
#include "sim/population/learning.hpp"

using namespace gradcast;

namespace {

constexpr std::uint64_t kDraws = 20;
constexpr std::size_t kGiven = 3;

struct Source {
  std::string name;
  std::shared_ptr<const Stack> stack;
  std::vector<FitRow> rows;
};

/// The rows of these sources, with the stack as it was estimated without them.
std::vector<Source> sources_of(const char* measured, const std::string& only, DataFiles& files) {
  std::vector<Source> sources;
  const MeasuredRuns runs = load_measured_runs(files.read(kMeasuredRuns, measured));
  for (FitRow& row : fit_rows_of(runs, files)) {
    const MeasuredRun& run = row.run;
    if (!run.outside.empty() || run.stack.empty() || (!only.empty() && run.source != only))
      continue;
    const std::string name = run.source + ", " + run.stack;
    auto known = std::find_if(sources.begin(), sources.end(),
                              [&](const Source& each) { return each.name == name; });
    if (known == sources.end()) {
      // The stack without the group of this source, where it was estimated from that too.
      const Request request = unseen_request(request_of(run), run.source, files);
      if (request.stack.empty()) continue;
      const auto stack = stack_of(request, files);
      known = sources.insert(sources.end(), {name, stack, {}});
    }
    known->rows.push_back(std::move(row));
  }
  // Three runs given, and two to forecast.
  std::erase_if(sources, [](const Source& each) { return each.rows.size() < kGiven + 2; });
  return sources;
}

/// The rows that are given, by draw of a fixed seed.
std::vector<std::size_t> drawn(std::size_t rows, std::uint64_t draw) {
  std::vector<std::size_t> order(rows);
  for (std::size_t i = 0; i < rows; ++i) order[i] = i;
  for (std::size_t i = 0; i < kGiven; ++i) {
    const double share = uniform({1, draw, Draw::Shuffle, i});
    std::swap(order[i], order[i + static_cast<std::size_t>(share * static_cast<double>(rows - i))]);
  }
  order.resize(kGiven);
  return order;
}

struct Tally {
  double before = 0;  // mean absolute errors in percent, of draws
  double after = 0;
  std::size_t draws = 0;
  std::size_t worse = 0;
  std::size_t much_worse = 0;  // by more than half a point
  double worst = 0;            // points by which a draw was worse
  std::vector<double> widths_before, widths_after;
  std::size_t inside_before = 0, inside_after = 0;

  void add(const Tally& other) {
    before += other.before;
    after += other.after;
    draws += other.draws;
    worse += other.worse;
    much_worse += other.much_worse;
    worst = std::max(worst, other.worst);
    inside_before += other.inside_before;
    inside_after += other.inside_after;
    widths_before.insert(widths_before.end(), other.widths_before.begin(),
                         other.widths_before.end());
    widths_after.insert(widths_after.end(), other.widths_after.begin(), other.widths_after.end());
  }

  double coverage(std::size_t inside) const {
    return 100 * static_cast<double>(inside) / static_cast<double>(widths_after.size());
  }

  void print(const std::string& name, std::size_t rows) const {
    const auto count = static_cast<double>(draws);
    std::printf(
        "%-42s %4zu  error %6.2f -> %6.2f  inside %4.0f -> %4.0f  width %6.1f -> %6.1f  "
        "worse %3zu of %3zu, by 0.5 points %3zu, at most %5.2f\n",
        name.c_str(), rows, before / count, after / count, coverage(inside_before),
        coverage(inside_after), median(widths_before), median(widths_after), worse, draws,
        much_worse, worst);
  }
};

double width_of(const Evaluation& forecast) {
  return 100 * ((forecast.interval->high - forecast.interval->low) / forecast.result.iteration);
}

Tally tally_of(const Source& source) {
  const Engine& engine = *find_engine("analytic");
  std::vector<Evaluation> before;
  for (const FitRow& row : source.rows)
    before.push_back(evaluate_on(row.scenario, source.stack, engine));
  Tally tally;
  for (std::uint64_t draw = 0; draw < kDraws; ++draw) {
    const std::vector<std::size_t> given = drawn(source.rows.size(), draw);
    std::vector<FitRow> three;
    for (const std::size_t i : given) three.push_back(source.rows[i]);
    const auto learned = std::make_shared<const Stack>(
        StackLearner(*source.stack, three, 1).by_all("three runs").stack);
    double error_before = 0;
    double error_after = 0;
    const auto others = static_cast<double>(source.rows.size() - kGiven);
    for (std::size_t i = 0; i < source.rows.size(); ++i) {
      if (std::find(given.begin(), given.end(), i) != given.end()) continue;
      const FitRow& row = source.rows[i];
      const CheckedRun checked{&row, before[i], evaluate_on(row.scenario, learned, engine)};
      error_before += std::abs(checked.error_percent(checked.before)) / others;
      error_after += std::abs(checked.error_percent(checked.after)) / others;
      tally.inside_before += checked.holds(checked.before) ? 1 : 0;
      tally.inside_after += checked.holds(checked.after) ? 1 : 0;
      tally.widths_before.push_back(width_of(checked.before));
      tally.widths_after.push_back(width_of(checked.after));
    }
    tally.before += error_before;
    tally.after += error_after;
    ++tally.draws;
    if (error_after > error_before) {
      ++tally.worse;
      tally.much_worse += error_after > error_before + 0.5 ? 1 : 0;
      tally.worst = std::max(tally.worst, error_after - error_before);
    }
  }
  return tally;
}

}  // namespace

TEST_CASE("three runs of one's own help, on sources that no stack has seen",
          "[population][learning][data][slow]") {
  DataFiles files(GRADCAST_SOURCE_DIR);
  Tally all;
  std::size_t rows = 0;
  const std::pair<const char*, const char*> kMeasured[] = {
      {"measured-csc", ""},
      {"measured-dlperf", ""},
      {"measured-nvidia-horovod", ""},
      {"measured-lambda-resnet50", ""},
      {"measured-nvidia-examples", "nvidia-resnet50"}};
  for (const auto& [measured, only] : kMeasured)
    for (const Source& source : sources_of(measured, only, files)) {
      const Tally tally = tally_of(source);
      tally.print(source.name, source.rows.size());
      all.add(tally);
      rows += source.rows.size();
    }
  all.print("all", rows);
  CHECK(all.after < all.before);
  CHECK(all.coverage(all.inside_after) >= 85);
  CHECK(median(all.widths_after) <= 30);
}
