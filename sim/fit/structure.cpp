#include "sim/fit/structure.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "sim/base/csv.hpp"
#include "sim/base/text.hpp"

namespace gradcast {
namespace {

constexpr std::array kStructureColumns = {"structure", "errors", "parameter", "applies_to",
                                          "start",     "least",  "most",      "source"};

constexpr std::string_view kEach = "each";

std::string as_typed(std::string_view text) { return std::string(text); }

std::string yes_or_no(bool value) { return value ? "yes" : "no"; }

/// `written`: a value that was typed, as `of` would write it. Throws ValueError for one that no run
/// can have.
struct Column {
  std::string_view name;
  std::string (*of)(const MeasuredRun& run);
  std::string (*written)(std::string_view typed) = as_typed;
};

constexpr Column kScopeColumns[] = {
    {"compressor", [](const MeasuredRun& run) { return run.compressor; }},
    {"cluster", [](const MeasuredRun& run) { return run.cluster; }},
    {"collective", [](const MeasuredRun& run) { return run.collective; }},
    {"fusion", [](const MeasuredRun& run) { return to_text(run.fusion); }},
    {"model", [](const MeasuredRun& run) { return run.model; }},
    {"source", [](const MeasuredRun& run) { return run.source; }},
    {"stack", [](const MeasuredRun& run) { return run.stack; }},
    {"density", [](const MeasuredRun& run) { return number_to_text(run.density); },
     [](std::string_view typed) { return number_to_text(parse_density(typed)); }},
    {"nodes", [](const MeasuredRun& run) { return std::to_string(run.nodes); },
     [](std::string_view typed) { return std::to_string(parse_count(typed)); }},
    {"selection", [](const MeasuredRun& run) { return to_text(run.selection); },
     [](std::string_view typed) { return to_text(parse_selection(typed)); }},
    {"compressing", [](const MeasuredRun& run) { return yes_or_no(run.compressing); },
     [](std::string_view typed) { return yes_or_no(parse_yes_no(typed)); }},
};

const Column& find_column(const std::string& name) {
  std::vector<std::string> known;
  for (const Column& column : kScopeColumns) {
    if (column.name == name) return column;
    known.emplace_back(column.name);
  }
  throw ValueError("'" + name + "' is none of " + join(known) + did_you_mean(name, known));
}

/// "compressor=dgc+gaussian cluster=ddl-10gbe"
std::string to_text(const FitScope& scope) {
  std::vector<std::string> words;
  for (const FitScope::Condition& condition : scope.conditions)
    words.push_back(condition.column + "=" +
                    (condition.values.empty() ? std::string(kEach) : join(condition.values, "+")));
  return join(words, " ");
}

/// The parameter, or one of each value that the runs have in its first column of `each`.
std::vector<FitParameter> for_each_value(const FitParameter& parameter,
                                         const std::vector<MeasuredRun>& runs) {
  const auto& conditions = parameter.scope.conditions;
  const auto each =
      std::find_if(conditions.begin(), conditions.end(),
                   [](const FitScope::Condition& condition) { return condition.values.empty(); });
  if (each == conditions.end()) return {parameter};
  const Column& column = find_column(each->column);
  std::vector<std::string> known;
  std::vector<FitParameter> all;
  for (const MeasuredRun& run : runs) {
    const std::string value = column.of(run);
    if (std::find(known.begin(), known.end(), value) != known.end()) continue;
    known.push_back(value);
    FitParameter one = parameter;
    one.scope.conditions[static_cast<std::size_t>(each - conditions.begin())].values = {value};
    one.applies_to = to_text(one.scope);
    for (FitParameter& made : for_each_value(one, runs)) all.push_back(std::move(made));
  }
  return all;
}

FitErrors parse_errors(std::string_view text) {
  if (text == "absolute") return FitErrors::Absolute;
  if (text == "relative") return FitErrors::Relative;
  throw ValueError("'" + std::string(text) + "' is not 'absolute' or 'relative'");
}

/// Throws if the last parameter cannot be combined with another one of the structure.
void require_no_double(const FitStructure& structure, const CsvReader& rows) {
  const FitParameter& last = structure.parameters.back();
  for (std::size_t i = 0; i + 1 < structure.parameters.size(); ++i) {
    const FitParameter& other = structure.parameters[i];
    if (other.quantity == last.quantity && other.applies_to == last.applies_to)
      throw rows.failure(
          "parameter", "'" + last.name() + "' stands twice in structure '" + structure.name + "'");
  }
}

}  // namespace

bool FitScope::holds(const MeasuredRun& run) const {
  return std::all_of(conditions.begin(), conditions.end(), [&](const Condition& condition) {
    if (condition.values.empty()) throw std::logic_error("for_runs has not replaced 'each'");
    const std::string value = find_column(condition.column).of(run);
    return std::find(condition.values.begin(), condition.values.end(), value) !=
           condition.values.end();
  });
}

FitScope parse_fit_scope(std::string_view text) {
  FitScope scope;
  if (text.empty()) return scope;
  for (const std::string& condition : split_words(text, ' ')) {
    const std::size_t equals = condition.find('=');
    if (equals == std::string::npos || equals + 1 == condition.size())
      throw ValueError("'" + condition +
                       "' is not a column with its values, like 'compressor=dgc+gaussian'");
    const Column& column = find_column(condition.substr(0, equals));
    std::vector<std::string> values;
    const std::vector<std::string> typed =
        split_words(std::string_view(condition).substr(equals + 1), '+');
    if (std::find(typed.begin(), typed.end(), kEach) == typed.end())
      for (const std::string& word : typed) values.push_back(column.written(word));
    else if (typed.size() > 1)
      throw ValueError("'" + condition + "': '" + std::string(kEach) +
                       "' stands for all values, so it stands alone");
    scope.conditions.push_back({std::string(column.name), std::move(values)});
  }
  return scope;
}

std::string FitParameter::name() const {
  return std::string(quantity->name) + (applies_to.empty() ? "" : " (" + applies_to + ")");
}

const FitStructure& FitStructures::find(const std::string& name) const {
  if (name.empty()) return structures.front();
  std::vector<std::string> known;
  for (const FitStructure& structure : structures) {
    if (structure.name == name) return structure;
    known.push_back(structure.name);
  }
  throw ValueError("unknown structure '" + name + "'" + did_you_mean(name, known) + " (" + path +
                   " has " + join(known) + ")");
}

FitStructures for_runs(FitStructures all, const std::vector<MeasuredRun>& runs) {
  for (FitStructure& structure : all.structures) {
    std::vector<FitParameter> parameters;
    for (const FitParameter& parameter : structure.parameters)
      for (FitParameter& made : for_each_value(parameter, runs))
        parameters.push_back(std::move(made));
    structure.parameters = std::move(parameters);
  }
  return all;
}

FitStructures load_fit_structures(const TextFile& file) {
  FitStructures all{file.path.string(), {}};
  CsvReader rows(file, kStructureColumns);
  while (rows.next()) {
    const std::string name = rows.word("structure");
    const FitErrors errors = rows.value("errors", parse_errors);
    if (all.structures.empty() || all.structures.back().name != name) {
      for (const FitStructure& other : all.structures)
        if (other.name == name)
          throw rows.failure("structure", "the lines of '" + name + "' do not stand together");
      all.structures.push_back({name, errors, comment_value(file, name), {}, rows.line()});
    }
    FitStructure& structure = all.structures.back();
    if (structure.errors != errors)
      throw rows.failure("errors", "'" + name + "' is fitted by one kind of errors");
    FitParameter parameter;
    parameter.quantity = &rows.value("parameter", find_scenario_quantity);
    parameter.applies_to = rows.text("applies_to");
    parameter.scope = rows.value("applies_to", parse_fit_scope);
    const auto number = [&](const char* column) {
      return rows.value(column, parameter.quantity->parse);
    };
    parameter.start = number("start");
    parameter.least = number("least");
    parameter.most = number("most");
    if (parameter.least > parameter.most)  // a rate's highest value is the least time
      std::swap(parameter.least, parameter.most);
    if (parameter.least == parameter.most)
      throw rows.failure("most", "the bounds leave '" + parameter.name() + "' no room");
    if (parameter.start < parameter.least || parameter.start > parameter.most)
      throw rows.failure("start", "'" + rows.text("start") + "' is not within the bounds");
    parameter.source = rows.word("source");
    structure.parameters.push_back(std::move(parameter));
    require_no_double(structure, rows);
  }
  if (all.structures.empty()) throw rows.failure("the file has no structure");
  return all;
}

}  // namespace gradcast
