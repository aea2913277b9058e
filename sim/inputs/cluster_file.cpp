#include "sim/inputs/cluster_file.hpp"

#include <array>
#include <cstddef>
#include <map>
#include <string>

#include "sim/base/csv.hpp"
#include "sim/base/error.hpp"
#include "sim/base/text.hpp"
#include "sim/base/units.hpp"
#include "sim/inputs/cluster_faults.hpp"
#include "sim/inputs/cluster_properties.hpp"
#include "sim/inputs/cluster_values.hpp"
#include "sim/inputs/property_name.hpp"

namespace gradcast {
namespace {

constexpr std::array kColumns = {"property", "value", "source",
                                 // optional
                                 "deviation"};
constexpr std::size_t kRequiredClusterColumns = 3;

/// The deviation of a row, as a share of its value. If the value is 0, which has no share, the
/// deviation is a value with a unit.
PropertyDeviation deviation_of(const NamedProperty& named, const CsvReader& rows) {
  const std::string name(named.property->name);
  const std::string& value = rows.text("value");
  const std::size_t unit = value.find_first_not_of("0123456789.e+-");
  if (!begins_with_digit(value) || parse_number(value.substr(0, unit)) != 0)
    return {name, rows.value("deviation", parse_percent)};
  rows.value("deviation", [&](const std::string& text) {
    Cluster tried;
    set_named(tried, named, text);
    return 0;
  });
  return {name, 0, rows.text("deviation")};
}

}  // namespace

Cluster load_cluster(const TextFile& file) {
  Cluster cluster;
  cluster.name = file.path.stem().string();
  CsvReader rows(file, kColumns, kRequiredClusterColumns);
  std::map<std::string, std::size_t> seen;  // and in which line
  while (rows.next()) {
    rows.word("property");
    rows.word("source");
    const NamedProperty named = rows.value("property", parse_property_name);
    if (!seen.emplace(named.name(), rows.line()).second)
      throw rows.failure("property", in_quotes(named.name()) + " stands twice");
    try {
      set_named(cluster, named, rows.word("value"));
    } catch (const ValueError& error) {
      throw rows.failure(named.name() + ": " + error.what());
    }
    if (rows.text("deviation").empty()) continue;
    if (named.nodes || named.property->of == PropertyRow::Of::Shape)
      throw rows.failure("deviation", "only values of all nodes have one, and no counts");
    cluster.deviations.push_back(deviation_of(named, rows));
  }
  for (const PropertyRow& property : property_rows())
    if (property.required && !seen.contains(std::string(property.name)))
      throw rows.failure("the property '" + std::string(property.name) + "' is missing");
  if (const auto fault = fault_of(cluster))
    throw DataError(file.path.string(), seen[fault->property], fault->what);
  return cluster;
}

}  // namespace gradcast
