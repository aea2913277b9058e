#include "sim/population/judgement_table.hpp"

#include "sim/base/table.hpp"

namespace gradcast {

std::string judgement_table(const Judgement& judgement) {
  TextTable table;
  table.header = {"group",       "stack",   "rows",  "error %",           "physics %",
                  "inside 90 %", "width %", "score", "residuals: inside", "width %",
                  "score"};
  for (const JudgedGroup& group : judgement.groups)
    table.rows.push_back(
        {group.name, group.stack + (group.stack_seen ? "" : " (not seen)"),
         std::to_string(group.rows), fixed(group.error_percent, 1), fixed(group.physics_percent, 1),
         fixed(group.intervals.coverage_percent, 0) + " %", fixed(group.intervals.width_percent, 0),
         fixed(group.intervals.score, 2), fixed(group.residuals.coverage_percent, 0) + " %",
         fixed(group.residuals.width_percent, 0), fixed(group.residuals.score, 2)});
  const auto mean = [&](double (*of)(const JudgedGroup&), int digits) {
    return fixed(judgement.mean(of), digits);
  };
  table.rows.push_back(
      {"mean over groups", "", "", mean([](const JudgedGroup& g) { return g.error_percent; }, 1),
       mean([](const JudgedGroup& g) { return g.physics_percent; }, 1),
       mean([](const JudgedGroup& g) { return g.intervals.coverage_percent; }, 0) + " %",
       mean([](const JudgedGroup& g) { return g.intervals.width_percent; }, 0),
       mean([](const JudgedGroup& g) { return g.intervals.score; }, 2),
       mean([](const JudgedGroup& g) { return g.residuals.coverage_percent; }, 0) + " %",
       mean([](const JudgedGroup& g) { return g.residuals.width_percent; }, 0),
       mean([](const JudgedGroup& g) { return g.residuals.score; }, 2)});
  return "Each group is forecast by stacks that were estimated without it. Residuals: physics "
         "alone "
         "with the\nresiduals of the other groups. The score is an interval's width and 20 times "
         "what "
         "a measurement lies\noutside, on the logarithm of time: low is good.\n\n" +
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
                    {"residuals_coverage_percent", group.residuals.coverage_percent},
                    {"residuals_median_interval_width_percent", group.residuals.width_percent},
                    {"residuals_interval_score", group.residuals.score}});
  return rows;
}

Json judgement_summary(const Judgement& judgement) {
  return {
      {"groups", judgement.groups.size()},
      {"mean_absolute_error_percent",
       judgement.mean([](const JudgedGroup& g) { return g.error_percent; })},
      {"physics_mean_absolute_error_percent",
       judgement.mean([](const JudgedGroup& g) { return g.physics_percent; })},
      {"coverage_percent",
       judgement.mean([](const JudgedGroup& g) { return g.intervals.coverage_percent; })},
      {"interval_score", judgement.mean([](const JudgedGroup& g) { return g.intervals.score; })},
      {"residuals_interval_score",
       judgement.mean([](const JudgedGroup& g) { return g.residuals.score; })}};
}

}  // namespace gradcast
