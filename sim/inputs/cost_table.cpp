#include "sim/inputs/cost_table.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <set>

#include "sim/base/csv.hpp"
#include "sim/base/text.hpp"
#include "sim/inputs/compressor_costs.hpp"
#include "sim/inputs/compressor_words.hpp"

namespace gradcast {
namespace {

constexpr std::array kCostColumns = {"compressor",
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
                                     "evidence",
                                     "input_type",
                                     "parameter",
                                     "low_factor",
                                     "high_factor"};
constexpr double kMostCostFactor = 1000;
constexpr std::size_t kRequiredCostColumns = 15;  // the input is fp32 where the file does not say

}  // namespace

CostEstimate CostTable::estimate(const CostQuery& query) const {
  // It lives as long as what is asked of it here.
  const std::shared_ptr<const CostTable> table(std::shared_ptr<void>(), this);
  const CompressorCosts costs(
      table, {query.compressor, query.mode, query.implementation, query.distribution});
  return costs.of(query.elements, query.density, query.workers);
}

Seconds corrected_encode(Seconds encode, const CodecWork& work, const CodecCorrection& correction) {
  return correction.encode_factor * encode + work.calls * correction.per_call +
         work.tensors * correction.per_tensor +
         static_cast<double>(work.elements) * correction.per_element;
}

Seconds corrected_decode(Seconds decode, const CodecWork& work, const CodecCorrection& correction) {
  return correction.decode_factor * decode + work.calls * correction.decode_per_call +
         work.tensors * correction.decode_per_tensor +
         work.calls * work.ranks * correction.decode_per_rank;
}

std::string parse_mode(std::string_view text) {
  if (text.empty() || text == "paper" || text == "code") return std::string(text);
  throw ValueError("'" + std::string(text) + "' is not 'paper' or 'code'");
}

CostTable load_cost_table(const TextFile& file) {
  CostTable table{file.path.string(), {}, comment_value(file, "device")};
  std::set<std::string> seen;
  CsvReader rows(file, kCostColumns, kRequiredCostColumns);
  while (rows.next()) {
    CostRow row;
    row.compressor = rows.word("compressor");
    row.mode = rows.value("mode", parse_mode);
    row.implementation = rows.word("implementation");
    row.tensors = rows.value("tensors", parse_count);
    row.elements = rows.integer("elements", 1, kMostCostElements);
    row.density = rows.value("density", parse_density);
    row.workers = rows.value("workers", parse_count);
    if (!rows.text("input_type").empty())
      row.input_type = rows.value("input_type", parse_tensor_type);
    if (!rows.text("parameter").empty()) row.parameter = rows.value("parameter", parse_parameter);
    if (!rows.text("low_factor").empty()) row.factors.low = rows.number("low_factor", 0, 1);
    if (!rows.text("high_factor").empty())
      row.factors.high = rows.number("high_factor", 1, kMostCostFactor);
    row.distribution = rows.word("distribution");
    row.selected = rows.number("selected", 0, static_cast<double>(row.elements));
    row.encode = Seconds{rows.number("encode_seconds", 0, kLongestSeconds)};
    row.encode_p95 = Seconds{rows.number("encode_p95_seconds", 0, kLongestSeconds)};
    row.decode = Seconds{rows.number("decode_seconds", 0, kLongestSeconds)};
    row.decode_p95 = Seconds{rows.number("decode_p95_seconds", 0, kLongestSeconds)};
    row.samples = rows.integer("samples", 0, INT64_MAX);
    row.evidence = rows.word("evidence");
    if (row.evidence != "measured" && row.evidence != "simulated" && row.evidence != "published" &&
        row.evidence != "derived")
      throw rows.failure("evidence", "'" + row.evidence +
                                         "' is not 'measured', 'simulated', 'published' or "
                                         "'derived'");
    const std::string point =
        join({row.compressor, row.mode, row.implementation, std::to_string(row.tensors),
              std::to_string(row.elements), number_to_text(row.density),
              std::to_string(row.workers), row.distribution}) +
        (row.input_type == NumberType::Fp32 ? "" : ", " + std::string(to_text(row.input_type))) +
        (row.parameter == 0 ? "" : ", " + number_to_text(row.parameter));
    if (!seen.insert(point).second) throw rows.failure("the point " + point + " stands twice");
    table.rows.push_back(row);
  }
  if (table.rows.empty()) throw rows.failure("the cost table has no rows");
  return table;
}

std::string cost_table_csv(const CostTable& table, const std::vector<std::string>& provenance,
                           const CostColumns& always) {
  const bool types = always.input_type ||
                     std::any_of(table.rows.begin(), table.rows.end(), [](const CostRow& row) {
                       return row.input_type != NumberType::Fp32;
                     });
  const bool parameters =
      always.parameter || std::any_of(table.rows.begin(), table.rows.end(),
                                      [](const CostRow& row) { return row.parameter != 0; });
  const bool factors = std::any_of(table.rows.begin(), table.rows.end(),
                                   [](const CostRow& row) { return row.factors.said(); });
  std::vector<std::string> header(kCostColumns.begin(),
                                  kCostColumns.begin() + kRequiredCostColumns);
  if (types) header.emplace_back("input_type");
  if (parameters) header.emplace_back("parameter");
  if (factors) header.insert(header.end(), {"low_factor", "high_factor"});
  std::string text = csv_comments(provenance) + csv_line(header);
  for (const CostRow& row : table.rows) {
    std::vector<std::string> fields{row.compressor,
                                    row.mode,
                                    row.implementation,
                                    std::to_string(row.tensors),
                                    std::to_string(row.elements),
                                    number_to_text(row.density),
                                    std::to_string(row.workers),
                                    row.distribution,
                                    number_to_text(row.selected),
                                    number_to_text(row.encode.count()),
                                    number_to_text(row.encode_p95.count()),
                                    number_to_text(row.decode.count()),
                                    number_to_text(row.decode_p95.count()),
                                    std::to_string(row.samples),
                                    row.evidence};
    if (types) fields.emplace_back(to_text(row.input_type));
    if (parameters) fields.emplace_back(row.parameter == 0 ? "" : number_to_text(row.parameter));
    if (factors)
      for (const double factor : {row.factors.low, row.factors.high})
        fields.push_back(number_to_text(factor));
    text += csv_line(fields);
  }
  return text;
}

}  // namespace gradcast
