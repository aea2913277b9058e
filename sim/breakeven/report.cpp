#include "sim/breakeven/report.hpp"

#include "sim/base/table.hpp"
#include "sim/base/text.hpp"
#include "sim/breakeven/finding.hpp"
#include "sim/breakeven/quantity.hpp"
#include "sim/breakeven/sentences.hpp"

namespace gradcast {
namespace {

std::string open_ends(const Stretch& interval) {
  if (interval.low_open && interval.high_open) return "both";
  return interval.low_open ? "low" : interval.high_open ? "high" : "";
}

/// The columns that are the same in all rows of an answer, around those of the root.
Json row_with(const Answered& answered, const Finding& finding, bool fitted,
              const BreakEven* root) {
  const Told& told = answered.told;
  const auto text = [&](double value) { return Json(value_text(told.over, value)); };
  const bool interval = root != nullptr && root->interval.has_value();
  Json row;
  row["model"] = answered.model;
  row["compressor"] = told.compressor;
  row["against"] = told.against;
  row["schedules"] = join(finding.schedules, "; ");
  row["against_schedules"] = join(finding.against_schedules, "; ");
  row["over"] = to_text(told.over);
  row["estimate"] = fitted ? "fitted" : "physics";
  row["finding"] = root != nullptr          ? "root"
                   : !finding.pays_at_start ? "no answer"
                   : *finding.pays_at_start ? "pays throughout"
                                            : "never pays";
  row["at"] = root != nullptr ? text(root->at) : Json();
  row["at_low"] = interval ? text(root->interval->low) : Json();
  row["at_high"] = interval ? text(root->interval->high) : Json();
  row["pays"] = root != nullptr ? Json(root->pays_above ? "above" : "below") : Json();
  row["from"] = text(finding.range.from);
  row["to"] = text(finding.range.to);
  row["open"] = interval ? Json(open_ends(*root->interval)) : Json();
  row["checked"] = root != nullptr ? Json(root->unchecked.empty() ? "yes" : "no") : Json();
  const bool unsure = root == nullptr && !finding.unsure.empty();
  row["unsure_from"] = unsure ? text(finding.unsure.front().low) : Json();
  row["unsure_to"] = unsure ? text(finding.unsure.back().high) : Json();
  for (const auto& [name, value] : answered.setting) row[name] = value;
  row["software"] = fitted ? Json(told.software) : Json();
  row["costs_fitted"] = fitted ? Json(told.unfitted.empty() ? "yes" : "no") : Json();
  row["evidence"] = finding.evidence;
  row["outside"] = finding.outside;
  row["unanswered"] = finding.unanswered;
  row["problem"] = root != nullptr && !root->unchecked.empty() ? root->unchecked : finding.problem;
  row["forecasts"] = finding.forecasts;
  row["engine"] = finding.engine;
  return row;
}

void add_rows(std::vector<Json>& rows, const Answered& answered, const Finding& finding,
              bool fitted) {
  if (finding.roots.empty()) rows.push_back(row_with(answered, finding, fitted, nullptr));
  for (const BreakEven& root : finding.roots)
    rows.push_back(row_with(answered, finding, fitted, &root));
}

std::string dash(const Json& value) {
  const std::string text = value_to_text(value);
  return text.empty() ? "-" : text;
}

std::string interval_text(const Json& row) {
  if (row["at_low"].is_null()) return "-";
  std::string text = dash(row["at_low"]) + " to " + dash(row["at_high"]);
  const std::string open = value_to_text(row["open"]);
  if (!open.empty()) text += " (open: " + open + ")";
  return text;
}

}  // namespace

std::vector<Json> rows_of(const Answered& answered) {
  std::vector<Json> rows;
  add_rows(rows, answered, answered.told.physics, false);
  if (answered.told.fitted) add_rows(rows, answered, *answered.told.fitted, true);
  return rows;
}

std::string breakeven_table(const std::vector<Answered>& all) {
  std::string text;
  TextTable table{{"compressor", "against", "estimate", "finding", "at", "90 % interval", "pays",
                   "checked", "looked at"},
                  {}};
  for (const Answered& answered : all) {
    for (const std::string& sentence : sentences_of(answered.told)) text += sentence + "\n";
    text += "\n";
    for (const Json& row : rows_of(answered))
      table.rows.push_back({dash(row["compressor"]), dash(row["against"]), dash(row["estimate"]),
                            dash(row["finding"]), dash(row["at"]), interval_text(row),
                            dash(row["pays"]), dash(row["checked"]),
                            dash(row["from"]) + " to " + dash(row["to"])});
  }
  return text + to_text(table);
}

}  // namespace gradcast
