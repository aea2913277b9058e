#include "sim/fit/leave_one_out.hpp"

#include <algorithm>
#include <cmath>

#include "sim/base/error.hpp"
#include "sim/base/random.hpp"
#include "sim/compare/comparison.hpp"

namespace gradcast {
namespace {

using Groups = std::vector<std::vector<std::size_t>>;
using Rows = std::vector<const FitRow*>;

/// The rows among `which` that the model claims.
Rows rows_of(const std::vector<FitRow>& rows, const std::vector<std::size_t>& which) {
  Rows some;
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

std::vector<double> errors_of(const Fit& fit, const Rows& rows, const Engine& engine) {
  return errors_percent(rows, *fit.structure, fit.values, engine);
}

double mean_absolute(const std::vector<double>& errors) {
  return summarize_errors(errors).mean_absolute;
}

}  // namespace

LeaveOut parse_leave_out(std::string_view text) {
  for (const LeaveOut what : {LeaveOut::Row, LeaveOut::Model, LeaveOut::Source})
    if (text == to_text(what)) return what;
  throw ValueError("'" + std::string(text) + "' is not 'model', 'row' or 'source'");
}

std::string to_text(LeaveOut what) {
  switch (what) {
    case LeaveOut::Row:
      return "row";
    case LeaveOut::Model:
      return "model";
    case LeaveOut::Source:
      break;
  }
  return "source";
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
    const std::string name = what == LeaveOut::Row     ? std::to_string(i)
                             : what == LeaveOut::Model ? run.model
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
                      const FitOptions& options, const Engine& engine,
                      const FitProgress& progress) {
  const Groups groups = groups_of(rows, what, true);
  if (groups.size() < 2)
    throw ValueError("all runs are of one " + to_text(what) + ", so no run is left to fit on");
  LeftOut left;
  left.fit_of.resize(rows.size());
  left.forecasts.resize(rows.size());
  for (std::size_t g = 0; g < groups.size(); ++g) {
    left.fits.push_back(fit_rows(rows_of(rows, without(groups, {g})), structure, options,
                                 rows_of(rows, groups[g])));
    for (const std::size_t i : groups[g]) {
      left.fit_of[i] = g;
      left.forecasts[i] = forecast(left.fits.back(), rows[i], engine, *options.engine);
    }
    if (progress) progress(g + 1, groups.size());
  }
  return left;
}

Nested nested_leave_one_out(const std::vector<FitRow>& rows, LeaveOut what,
                            const std::vector<FitStructure>& structures, const FitOptions& options,
                            const FitProgress& progress) {
  const Groups groups = groups_of(rows, what);
  if (groups.size() < 3)
    throw ValueError(
        "a nested leave-one-out needs three groups: one to forecast, two to choose by");
  FitOptions single = options;
  single.random_starts = 0;  // a choice among structures needs no check of each start
  Nested nested;
  nested.errors_percent.resize(rows.size());
  std::vector<std::vector<double>> plain(structures.size());  // of what the model claims alone
  std::size_t done = 0;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const Rows out = rows_of(rows, groups[g]);
    double least = INFINITY;
    std::size_t best = 0;
    std::vector<std::vector<double>> outer(structures.size());
    for (std::size_t s = 0; s < structures.size(); ++s) {
      std::vector<double> inner;
      for (std::size_t h = 0; h < groups.size(); ++h) {
        if (h == g) continue;
        const Fit fit = fit_rows(rows_of(rows, without(groups, {g, h})), structures[s], single);
        const auto errors = errors_of(fit, rows_of(rows, groups[h]), *options.engine);
        inner.insert(inner.end(), errors.begin(), errors.end());
      }
      const Fit fit = fit_rows(rows_of(rows, without(groups, {g})), structures[s], single);
      outer[s] = errors_of(fit, out, *options.engine);
      plain[s].insert(plain[s].end(), outer[s].begin(), outer[s].end());
      if (mean_absolute(inner) < least) {
        least = mean_absolute(inner);
        best = s;
      }
      if (progress) progress(++done, groups.size() * structures.size());
    }
    nested.chosen.push_back(structures[best].name);
    for (std::size_t i = 0; i < groups[g].size(); ++i)
      nested.errors_percent[groups[g][i]] = outer[best][i];
  }
  for (const auto& errors : plain) nested.mean_absolute.push_back(mean_absolute(errors));
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
