#include "sim/population/judgement_table.hpp"

#include "sim/base/table.hpp"

namespace gradcast {

namespace {

void add_score(std::vector<std::string>& cells, const IntervalScore& score) {
  cells.push_back(fixed(score.coverage_percent, 0) + " %");
  cells.push_back(fixed(score.width_percent, 0));
  cells.push_back(fixed(score.score, 2));
}

using Of = IntervalScore JudgedGroup::*;
constexpr Of kOf[] = {&JudgedGroup::intervals, &JudgedGroup::unnamed, &JudgedGroup::residuals};

}  // namespace

std::string judgement_table(const Judgement& judgement) {
  TextTable table;
  table.header = {"group", "stack",   "rows",    "error %", "physics %", "by stack", "width %",
                  "score", "unnamed", "width %", "score",   "residuals", "width %",  "score"};
  for (const JudgedGroup& group : judgement.groups) {
    table.rows.push_back({group.name, group.stack + (group.stack_seen ? "" : " (not seen)"),
                          std::to_string(group.rows), fixed(group.error_percent, 1),
                          fixed(group.physics_percent, 1)});
    for (const Of of : kOf) add_score(table.rows.back(), group.*of);
  }
  table.rows.push_back({"mean over groups", "", "",
                        fixed(judgement.mean(&JudgedGroup::error_percent), 1),
                        fixed(judgement.mean(&JudgedGroup::physics_percent), 1)});
  for (const Of of : kOf)
    add_score(table.rows.back(), {judgement.mean(of, &IntervalScore::coverage_percent),
                                  judgement.mean(of, &IntervalScore::width_percent),
                                  judgement.mean(of, &IntervalScore::score)});
  return "Each group is forecast by stacks that were estimated without it. Three intervals of 90 "
         "%, "
         "with how many\nmeasurements they hold: by stack; unnamed, where nobody says which stack "
         "it "
         "is; residuals, physics\nwith the residuals of the other groups. The score is the width "
         "and "
         "20 times what a measurement lies\noutside, on the logarithm of time: low is good.\n\n" +
         to_text(table);
}

std::vector<Json> judgement_rows(const Judgement& judgement) {
  std::vector<Json> rows;
  for (const JudgedGroup& group : judgement.groups)
    rows.push_back({{"group", group.name},
                    {"stack", group.stack},
                    {"stack_seen", group.stack_seen ? "yes" : "no"},
                    {"rows", group.rows},
                    {"mean_absolute_error_percent", group.error_percent},
                    {"physics_mean_absolute_error_percent", group.physics_percent},
                    {"coverage_percent", group.intervals.coverage_percent},
                    {"median_interval_width_percent", group.intervals.width_percent},
                    {"interval_score", group.intervals.score},
                    {"unnamed_coverage_percent", group.unnamed.coverage_percent},
                    {"unnamed_median_interval_width_percent", group.unnamed.width_percent},
                    {"unnamed_interval_score", group.unnamed.score},
                    {"residuals_coverage_percent", group.residuals.coverage_percent},
                    {"residuals_median_interval_width_percent", group.residuals.width_percent},
                    {"residuals_interval_score", group.residuals.score}});
  return rows;
}

Json judgement_summary(const Judgement& judgement) {
  return {
      {"groups", judgement.groups.size()},
      {"mean_absolute_error_percent", judgement.mean(&JudgedGroup::error_percent)},
      {"physics_mean_absolute_error_percent", judgement.mean(&JudgedGroup::physics_percent)},
      {"coverage_percent",
       judgement.mean(&JudgedGroup::intervals, &IntervalScore::coverage_percent)},
      {"interval_score", judgement.mean(&JudgedGroup::intervals, &IntervalScore::score)},
      {"unnamed_coverage_percent",
       judgement.mean(&JudgedGroup::unnamed, &IntervalScore::coverage_percent)},
      {"unnamed_interval_score", judgement.mean(&JudgedGroup::unnamed, &IntervalScore::score)},
      {"residuals_interval_score", judgement.mean(&JudgedGroup::residuals, &IntervalScore::score)}};
}

}  // namespace gradcast
