#include "sim/report/all_rows.hpp"

#include <algorithm>

#include "sim/base/text.hpp"
#include "sim/base/units.hpp"

namespace gradcast {
namespace {

/// Computed values have five digits, because people read the table. The result file has all digits.
std::string shown(const Json& row, const std::string& name) {
  const auto field = row.find(name);
  if (field != row.end() && field->is_number_float())
    return number_to_text(rounded_to(5, field->get<double>()));
  return text_of(row, name);
}

std::string with_blanks(std::string name) {
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

}  // namespace

AllRows all_rows_of(const ResultFile& result) {
  AllRows all;
  if (result.rows.empty()) return all;
  if (result.rows.size() == 1) {  // a single row becomes a tall table, not a wide one
    all.table.header = {"name", "value"};
    for (const auto& [name, value] : result.rows.front().items())
      if (const std::string text = shown(result.rows.front(), name); !text.empty())
        all.table.rows.push_back({with_blanks(name), text});
    return all;
  }
  std::vector<std::string> names;
  std::vector<std::string> same;
  for (const auto& [name, value] : result.rows.front().items()) {
    const std::string& key = name;
    if (key == "key") continue;  // this column is for the program, which resumes a sweep by it
    const std::string first = shown(result.rows.front(), key);
    const bool alike = std::all_of(result.rows.begin(), result.rows.end(),
                                   [&](const Json& row) { return shown(row, key) == first; });
    if (!alike) {
      names.push_back(key);
      all.table.header.push_back(with_blanks(key));
    } else if (!first.empty()) {
      same.push_back(with_blanks(key) + " " + first);
    }
  }
  all.same = join(same);
  for (const Json& row : result.rows) {
    std::vector<std::string>& fields = all.table.rows.emplace_back();
    for (const std::string& name : names) fields.push_back(shown(row, name));
  }
  return all;
}

}  // namespace gradcast
