#include "sim/cost_table.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "sim/cost_grid.hpp"
#include "sim/csv.hpp"

namespace gradcast {
namespace {

constexpr std::array kColumns = {"compressor",
                                 "mode",
                                 "implementation",
                                 "tensors",
                                 "elements",
                                 "density",
                                 "workers",
                                 "distribution",
                                 "selected",
                                 "encode_seconds",
                                 "encode_p95_seconds",
                                 "decode_seconds",
                                 "decode_p95_seconds",
                                 "samples",
                                 "evidence"};

/// What of a column the table holds among rows that pass `keep`.
std::vector<std::string> values_of(const std::vector<CostRow>& rows,
                                   const std::function<bool(const CostRow&)>& keep,
                                   const std::function<std::string(const CostRow&)>& column) {
  std::vector<std::string> values;
  for (const CostRow& row : rows)
    if (keep(row) && std::find(values.begin(), values.end(), column(row)) == values.end())
      values.push_back(column(row));
  return values;
}

std::string shown(const std::vector<std::string>& values) {
  std::vector<std::string> quoted;
  quoted.reserve(values.size());
  for (const std::string& value : values) quoted.push_back("'" + value + "'");
  return values.empty() ? "none" : join(quoted);
}

bool contains(const std::vector<std::string>& values, const std::string& value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

}  // namespace

CostEstimate CostTable::estimate(const CostQuery& query) const {
  const auto of_compressor = [&](const CostRow& row) {
    return row.compressor == query.compressor && row.tensors == 1;
  };
  const auto modes = values_of(rows, of_compressor, [](const CostRow& row) { return row.mode; });
  if (modes.empty())
    throw DataError(name, 0,
                    "has no costs of compressor '" + query.compressor + "' (it has " +
                        shown(values_of(
                            rows, [](const CostRow&) { return true; },
                            [](const CostRow& row) { return row.compressor; })) +
                        ")");
  std::string mode = query.mode;
  if (mode.empty() && !contains(modes, mode)) mode = contains(modes, "code") ? "code" : modes[0];
  if (!contains(modes, mode))
    throw DataError(name, 0,
                    "has no costs of compressor '" + query.compressor + "' in mode '" + mode +
                        "' (it has " + shown(modes) + ")");
  const auto of_mode = [&](const CostRow& row) { return of_compressor(row) && row.mode == mode; };
  const auto inputs = values_of(rows, of_mode, [](const CostRow& row) { return row.distribution; });
  if (!contains(inputs, query.distribution))
    throw DataError(name, 0,
                    "has no costs of compressor '" + query.compressor + "' on '" +
                        query.distribution + "' input (it has " + shown(inputs) + ")");
  const auto of_input = [&](const CostRow& row) {
    return of_mode(row) && row.distribution == query.distribution;
  };
  // The project's own kernels where the table has them, else whatever comes first.
  const auto made =
      values_of(rows, of_input, [](const CostRow& row) { return row.implementation; });
  const auto own = std::find_if(made.begin(), made.end(),
                                [](const std::string& m) { return m.starts_with("gradcast"); });
  CostEstimate estimate;
  estimate.mode = mode;
  estimate.implementation = own != made.end() ? *own : made[0];
  const auto of_choice = [&](const CostRow& row) {
    return of_input(row) && row.implementation == estimate.implementation;
  };
  CostGrid grid;
  for (const CostRow& row : rows)
    if (of_choice(row)) grid.add(row);
  if (const std::string hole = grid.hole(); !hole.empty())
    throw DataError(name, 0, "compressor '" + query.compressor + "': " + hole);
  const std::set<double> densities = grid.densities_for(query.density);
  estimate.evidence = join(
      values_of(
          rows,
          [&](const CostRow& row) { return of_choice(row) && densities.contains(row.density); },
          [](const CostRow& row) { return row.evidence; }),
      "+");
  const auto elements = static_cast<double>(query.elements);
  const CostPoint point = grid.at(query.density, elements, query.workers);
  estimate.encode = Seconds{point.encode};
  estimate.decode = Seconds{point.decode};
  const std::int64_t wanted = wanted_elements(query.elements, query.density);
  estimate.selected = std::clamp<std::int64_t>(
      std::llround(point.selected_share * static_cast<double>(wanted)), 1, query.elements);
  estimate.outside = grid.outside(query.density, elements, query.workers);
  return estimate;
}

std::string parse_mode(std::string_view text) {
  if (text.empty() || text == "paper" || text == "code") return std::string(text);
  throw ValueError("'" + std::string(text) + "' is not 'paper' or 'code'");
}

CostTable load_cost_table(const TextFile& file) {
  CostTable table{file.path.string(), {}};
  std::set<std::string> seen;
  CsvReader<kColumns.size()> rows(file, kColumns);
  while (rows.next()) {
    CostRow row;
    row.compressor = rows.word("compressor");
    row.mode = rows.value("mode", parse_mode);
    row.implementation = rows.word("implementation");
    row.tensors = rows.value("tensors", parse_count);
    row.elements = rows.integer("elements", 1, INT32_MAX);
    row.density = rows.value("density", parse_density);
    row.workers = rows.value("workers", parse_count);
    row.distribution = rows.word("distribution");
    row.selected = rows.number("selected", 0, static_cast<double>(row.elements));
    row.encode = Seconds{rows.number("encode_seconds", 0, kLongestSeconds)};
    row.encode_p95 = Seconds{rows.number("encode_p95_seconds", 0, kLongestSeconds)};
    row.decode = Seconds{rows.number("decode_seconds", 0, kLongestSeconds)};
    row.decode_p95 = Seconds{rows.number("decode_p95_seconds", 0, kLongestSeconds)};
    row.samples = rows.integer("samples", 0, INT64_MAX);
    row.evidence = rows.word("evidence");
    if (row.evidence != "measured" && row.evidence != "published" && row.evidence != "derived")
      throw rows.failure("evidence",
                         "'" + row.evidence + "' is not 'measured', 'published' or 'derived'");
    const std::string point =
        join({row.compressor, row.mode, row.implementation, std::to_string(row.tensors),
              std::to_string(row.elements), number_to_text(row.density),
              std::to_string(row.workers), row.distribution});
    if (!seen.insert(point).second) throw rows.failure("the point " + point + " stands twice");
    table.rows.push_back(row);
  }
  if (table.rows.empty()) throw rows.failure("the cost table has no rows");
  return table;
}

std::string cost_table_csv(const CostTable& table, const std::vector<std::string>& provenance) {
  std::string text = csv_comments(provenance) + csv_line({kColumns.begin(), kColumns.end()});
  for (const CostRow& row : table.rows)
    text += csv_line({row.compressor, row.mode, row.implementation, std::to_string(row.tensors),
                      std::to_string(row.elements), number_to_text(row.density),
                      std::to_string(row.workers), row.distribution, number_to_text(row.selected),
                      number_to_text(row.encode.count()), number_to_text(row.encode_p95.count()),
                      number_to_text(row.decode.count()), number_to_text(row.decode_p95.count()),
                      std::to_string(row.samples), row.evidence});
  return text;
}

std::int64_t wanted_elements(std::int64_t elements, double density) {
  // 1000 x 0.007 is 7.000000000000001 or 6.999999999999999 in doubles: what a person wrote is
  // whole.
  const double wanted = static_cast<double>(elements) * density;
  const double nearest = std::round(wanted);
  const double whole = std::abs(wanted - nearest) <= 1e-9 * nearest ? nearest : std::floor(wanted);
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(whole), 1, elements);
}

}  // namespace gradcast
