#include "sim/cost_table.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>

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

/// The quantities that are interpolated between rows.
struct Point {
  double encode = 0;
  double decode = 0;
  double selected_share = 0;  // of k
};

Point point_of(const CostRow& row) {
  return {row.encode.count(), row.decode.count(),
          row.selected / static_cast<double>(wanted_elements(row.elements, row.density))};
}

double mix(double a, double b, double t) { return a == b ? a : a + (b - a) * t; }

/// Costs grow as powers of the size: between two positive values the logarithm is what is linear.
double mix_log(double a, double b, double t) {
  return a > 0 && b > 0 ? std::exp(mix(std::log(a), std::log(b), t)) : mix(a, b, t);
}

/// One axis of the table: the values it holds, and where a query falls between two of them.
struct Bracket {
  double low, high, weight;  // weight of `high`, outside 0..1 beyond the range
};

/// What happens below an axis's smallest value; above its largest, the last two go on in line.
enum class Below { GoesOn, Holds };

Bracket bracket(const std::set<double>& values, double at, bool logarithmic, Below below) {
  const auto above = values.lower_bound(at);
  if (above != values.end() && *above == at) return {at, at, 0};
  if (values.size() == 1) return {*values.begin(), *values.begin(), 0};
  auto high = above;
  if (above == values.begin() && below == Below::Holds) return {*above, *above, 0};
  if (above == values.begin()) high = std::next(above);
  if (above == values.end()) high = std::prev(above);
  const double low_value = *std::prev(high);
  const auto scale = [&](double value) { return logarithmic ? std::log(value) : value; };
  return {low_value, *high, (scale(at) - scale(low_value)) / (scale(*high) - scale(low_value))};
}

/// Rows of one compressor, mode, implementation and distribution, nested by axis.
class Grid {
 public:
  void add(const CostRow& row) {
    cells_[row.density][static_cast<double>(row.elements)][row.workers] = point_of(row);
  }

  Point at(double density, double elements, double workers) const {
    return between(
        cells_, density, true, Below::GoesOn,
        [&](const BySize& sizes) {
          return between(
              sizes, elements, true, Below::Holds,  // launches do not get shorter
              [&](const ByWorkers& by_workers) {
                return between(
                    by_workers, workers, false, Below::GoesOn,
                    [](const Point& point) { return point; }, mix);
              },
              mix_log);
        },
        mix_log);
  }

  /// Which ranges a query leaves; "" for none.
  std::string outside(double density, double elements, double workers) const {
    std::set<double> sizes;
    std::set<double> counts;
    for (const auto& [each_density, by_size] : cells_) {
      sizes.merge(keys_of(by_size));
      for (const auto& [size, by_workers] : by_size) counts.merge(keys_of(by_workers));
    }
    std::vector<std::string> left;
    const auto check = [&](const char* what, double at, const std::set<double>& range) {
      if (at < *range.begin() || at > *range.rbegin())
        left.push_back(std::string(what) + " " + number_to_text(at) + " outside " +
                       number_to_text(*range.begin()) + ".." + number_to_text(*range.rbegin()));
    };
    check("elements", elements, sizes);
    check("density", density, keys_of(cells_));
    check("workers", workers, counts);
    return join(left, "; ");
  }

  /// The one or two densities of the table that a query is answered from.
  std::set<double> densities_for(double density) const {
    const Bracket found = bracket(keys_of(cells_), density, true, Below::GoesOn);
    return {found.low, found.high};
  }

  /// A size with other workers than its neighbours would make decoding times of them all nonsense.
  /// Returns what is missing, "" for nothing.
  std::string hole() const {
    for (const auto& [density, by_size] : cells_)
      for (const auto& [size, by_workers] : by_size)
        if (keys_of(by_workers) != keys_of(by_size.begin()->second))
          return "at density " + number_to_text(density) + ", " + number_to_text(size) +
                 " elements have rows of other numbers of workers than " +
                 number_to_text(by_size.begin()->first) + " elements";
    return {};
  }

 private:
  using ByWorkers = std::map<double, Point>;
  using BySize = std::map<double, ByWorkers>;

  template <class Axis>
  static std::set<double> keys_of(const Axis& axis) {
    std::set<double> keys;
    for (const auto& [key, cell] : axis) keys.insert(key);
    return keys;
  }

  template <class Axis, class Inner, class Mix>
  static Point between(const Axis& axis, double at, bool logarithmic, Below below, Inner inner,
                       Mix mix_times) {
    const Bracket found = bracket(keys_of(axis), at, logarithmic, below);
    const Point low = inner(axis.at(found.low));
    if (found.weight == 0) return low;
    const Point high = inner(axis.at(found.high));
    // Beyond the table more work never takes less time, whatever the noise of its last two points.
    const auto time = [&](double at_low, double at_high) {
      const double mixed = std::max(0.0, mix_times(at_low, at_high, found.weight));
      if (found.weight > 1) return std::max(mixed, at_high);
      return found.weight < 0 ? std::min(mixed, at_low) : mixed;
    };
    return {time(low.encode, high.encode), time(low.decode, high.decode),
            // A share of k does not go on: it may be anything there, and is near 1.
            mix(low.selected_share, high.selected_share, std::clamp(found.weight, 0.0, 1.0))};
  }

  std::map<double, BySize> cells_;  // by density, by elements, by workers
};

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
  Grid grid;
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
  const Point point = grid.at(query.density, elements, query.workers);
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
