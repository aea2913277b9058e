#include "sim/fit/leave_one_out.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sim/base/error.hpp"
#include "sim/base/process_pool.hpp"
#include "sim/base/random.hpp"
#include "sim/compare/comparison.hpp"
#include "sim/fit/fold_bytes.hpp"

namespace gradcast {
namespace {

using Groups = std::vector<std::vector<std::size_t>>;
using FitRows = std::vector<const FitRow*>;

/// The rows among `which` that the model claims.
FitRows rows_of(const std::vector<FitRow>& rows, const std::vector<std::size_t>& which) {
  FitRows some;
  for (const std::size_t i : which)
    if (rows[i].run.outside.empty()) some.push_back(&rows[i]);
  return some;
}

/// All groups but some.
std::vector<std::size_t> without(const Groups& groups, const std::vector<std::size_t>& left_out) {
  std::vector<std::size_t> kept;
  for (std::size_t g = 0; g < groups.size(); ++g)
    if (std::find(left_out.begin(), left_out.end(), g) == left_out.end())
      kept.insert(kept.end(), groups[g].begin(), groups[g].end());
  std::sort(kept.begin(), kept.end());
  return kept;
}

std::vector<double> errors_of(const Fit& fit, const FitRows& rows, const Engine& engine) {
  return errors_percent(rows, *fit.structure, fit.values, engine);
}

std::vector<std::size_t> first_numbers(std::size_t count) {
  std::vector<std::size_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), std::size_t{0});
  return numbers;
}

double mean_absolute(const std::vector<double>& errors) {
  return summarize_errors(errors).mean_absolute;
}

}  // namespace

LeaveOut parse_leave_out(std::string_view text) {
  for (const LeaveOut what :
       {LeaveOut::Row, LeaveOut::Model, LeaveOut::Source, LeaveOut::Method, LeaveOut::Trace})
    if (text == to_text(what)) return what;
  throw ValueError("'" + std::string(text) +
                   "' is not 'model', 'row', 'source', 'method' or 'trace'");
}

std::string to_text(LeaveOut what) {
  switch (what) {
    case LeaveOut::Row:
      return "row";
    case LeaveOut::Model:
      return "model";
    case LeaveOut::Method:
      return "method";
    case LeaveOut::Trace:
      return "trace";
    case LeaveOut::Source:
      break;
  }
  return "source";
}

std::string method_of(const MeasuredRun& run) {
  return run.compressor == "dense" ? run.compressor
                                   : run.compressor + " " + number_to_text(run.density);
}

std::vector<const FitRow*> claimed(const std::vector<FitRow>& rows) {
  std::vector<const FitRow*> those;
  for (const FitRow& row : rows)
    if (row.run.outside.empty()) those.push_back(&row);
  return those;
}

Groups groups_of(const std::vector<FitRow>& rows, LeaveOut what, bool all) {
  Groups groups;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const MeasuredRun& run = rows[i].run;
    if (!all && !run.outside.empty()) continue;
    const std::string name = what == LeaveOut::Row      ? std::to_string(i)
                             : what == LeaveOut::Model  ? run.model
                             : what == LeaveOut::Method ? method_of(run)
                             : what == LeaveOut::Trace  ? run.trace
                                                        : run.source;
    const auto at = std::find(names.begin(), names.end(), name);
    if (at == names.end()) {
      names.push_back(name);
      groups.push_back({i});
    } else {
      groups[static_cast<std::size_t>(at - names.begin())].push_back(i);
    }
  }
  return groups;
}

LeftOut leave_one_out(const std::vector<FitRow>& rows, LeaveOut what, const FitStructure& structure,
                      const FitOptions& options, const Engine& engine, const ManyFits& many) {
  const Groups groups = groups_of(rows, what, true);
  if (groups.size() < 2)
    throw ValueError("all runs are of one " + to_text(what) + ", so no run is left to fit on");
  LeftOut left;
  left.fits.resize(groups.size());
  left.done.resize(groups.size());
  left.fit_of.resize(rows.size());
  left.forecasts.resize(rows.size());
  for (std::size_t g = 0; g < groups.size(); ++g)
    for (const std::size_t i : groups[g]) left.fit_of[i] = g;

  // Item 0 leaves out nothing, item g + 1 group g.
  const auto fitted_on = [&](std::size_t item) {
    return item == 0 ? claimed(rows) : rows_of(rows, without(groups, {item - 1}));
  };
  RowForecasters forecasters(structure, *options.engine);
  const auto make = [&](std::size_t item) {
    Fold fold;
    if (item == 0) {
      fold.fit = fit_rows(fitted_on(item), structure, options, {}, forecasters);
      return to_bytes(std::move(fold));
    }
    const std::vector<std::size_t>& group = groups[item - 1];
    fold.fit = fit_rows(fitted_on(item), structure, options, rows_of(rows, group), forecasters);
    for (const std::size_t i : group)
      fold.forecasts.push_back(forecast(fold.fit, rows[i], engine, *options.engine));
    return to_bytes(std::move(fold));
  };
  std::size_t done = 0;
  const auto take = [&](std::size_t item, const std::string& bytes) {
    Fold fold = fold_from_bytes(bytes);
    fold.fit.structure = &structure;
    fold.fit.rows = fitted_on(item);
    many.progress(++done, groups.size() + 1);
    if (item == 0) {
      left.whole = std::move(fold.fit);
      return;
    }
    left.done[item - 1] = true;
    left.fits[item - 1] = std::move(fold.fit);
    for (std::size_t i = 0; i < fold.forecasts.size(); ++i)
      left.forecasts[groups[item - 1][i]] = std::move(fold.forecasts[i]);
  };
  run_in_pool(many.processes, first_numbers(groups.size() + 1), {make, take, many.stop});
  return left;
}

std::optional<Nested> nested_leave_one_out(const std::vector<FitRow>& rows, LeaveOut what,
                                           const std::vector<FitStructure>& structures,
                                           const FitOptions& options, const ManyFits& many) {
  const Groups groups = groups_of(rows, what);
  if (groups.size() < 3)
    throw ValueError(
        "a nested leave-one-out needs three groups: one to forecast, two to choose by");
  FitOptions single = options;
  single.random_starts = 0;  // a choice among structures needs no check of each start

  // A fit without two groups serves both: each forecasts the other's choice. A fit without one
  // group (the two are the same) forecasts the group itself.
  struct Item {
    std::size_t structure, g, h;
  };
  std::vector<Item> items;
  for (std::size_t s = 0; s < structures.size(); ++s)
    for (std::size_t g = 0; g < groups.size(); ++g)
      for (std::size_t h = g; h < groups.size(); ++h) items.push_back({s, g, h});
  std::vector<RowForecasters> forecasters;
  for (const FitStructure& structure : structures)
    forecasters.emplace_back(structure, *options.engine);
  const auto make = [&](std::size_t number) {
    const Item& item = items[number];
    const Fit fit = fit_rows(rows_of(rows, without(groups, {item.g, item.h})),
                             structures[item.structure], single, {}, forecasters[item.structure]);
    std::vector<double> errors = errors_of(fit, rows_of(rows, groups[item.g]), *options.engine);
    if (item.h != item.g) {
      const auto others = errors_of(fit, rows_of(rows, groups[item.h]), *options.engine);
      errors.insert(errors.end(), others.begin(), others.end());
    }
    return to_bytes(std::move(errors));
  };
  // By structure, by group that was left out, by group that is forecast: errors by row.
  using Errors = std::vector<double>;
  std::vector<std::vector<std::vector<Errors>>> errors(
      structures.size(), std::vector(groups.size(), std::vector<Errors>(groups.size())));
  std::size_t done = 0;
  const auto take = [&](std::size_t number, const std::string& bytes) {
    const Item& item = items[number];
    const Errors both = numbers_from_bytes(bytes);
    const auto middle = both.begin() + static_cast<std::ptrdiff_t>(groups[item.g].size());
    errors[item.structure][item.h][item.g] = Errors(both.begin(), middle);
    if (item.h != item.g) errors[item.structure][item.g][item.h] = Errors(middle, both.end());
    many.progress(++done, items.size());
  };
  run_in_pool(many.processes, first_numbers(items.size()), {make, take, many.stop});
  if (done < items.size()) return std::nullopt;

  Nested nested;
  nested.errors_percent.resize(rows.size());
  std::vector<Errors> plain(structures.size());  // only runs that the model claims
  for (std::size_t g = 0; g < groups.size(); ++g) {
    double least = INFINITY;
    std::size_t best = 0;
    for (std::size_t s = 0; s < structures.size(); ++s) {
      Errors inner;
      for (std::size_t h = 0; h < groups.size(); ++h)
        if (h != g) inner.insert(inner.end(), errors[s][g][h].begin(), errors[s][g][h].end());
      plain[s].insert(plain[s].end(), errors[s][g][g].begin(), errors[s][g][g].end());
      if (mean_absolute(inner) < least) {
        least = mean_absolute(inner);
        best = s;
      }
    }
    nested.chosen.push_back(structures[best].name);
    for (std::size_t i = 0; i < groups[g].size(); ++i)
      nested.errors_percent[groups[g][i]] = errors[best][g][g][i];
  }
  for (const Errors& each : plain) nested.mean_absolute.push_back(mean_absolute(each));
  return nested;
}

BootstrapInterval bootstrap_mean_absolute(const std::vector<double>& errors, const Groups& groups,
                                          std::uint64_t seed) {
  constexpr std::uint64_t kDraws = 10'000;
  std::vector<double> means;
  for (std::uint64_t draw = 0; draw < kDraws; ++draw) {
    std::uint64_t index = 0;
    const auto pick = [&](std::size_t of) {
      const double share = uniform({seed, draw, Draw::Bootstrap, index++});
      return static_cast<std::size_t>(share * static_cast<double>(of));
    };
    double sum = 0;
    std::size_t count = 0;
    for (std::size_t i = 0; i < groups.size(); ++i) {
      const std::vector<std::size_t>& group = groups[pick(groups.size())];
      for (std::size_t j = 0; j < group.size(); ++j)
        sum += std::abs(errors[group[pick(group.size())]]);
      count += group.size();
    }
    means.push_back(sum / static_cast<double>(count));
  }
  std::sort(means.begin(), means.end());
  return {means[kDraws / 40], means[kDraws - 1 - kDraws / 40]};
}

}  // namespace gradcast
