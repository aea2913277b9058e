#include "sim/answers/document.hpp"

#include <cmath>
#include <stdexcept>

#include "sim/answers/version.hpp"
#include "sim/base/csv.hpp"
#include "sim/base/units.hpp"

namespace gradcast {
namespace {

/// Throws where a number below `value` is not finite, and names it: "/results/0/seconds".
void require_finite(const Json& value, const std::string& where) {
  const auto inside = [&](std::string name) { return where + name.insert(0, 1, '/'); };
  if (value.is_number_float() && !std::isfinite(value.get<double>()))
    throw std::logic_error("the result " + where + " is not a finite number");
  if (value.is_object())
    for (const auto& [key, entry] : value.items()) require_finite(entry, inside(key));
  if (value.is_array())
    for (std::size_t i = 0; i < value.size(); ++i)
      require_finite(value[i], inside(std::to_string(i)));
}

}  // namespace

int schema_version(const std::string& schema) {
  return schema == "sweep" || schema == "breakeven" ? 2 : 1;
}

Json make_document(const DocumentHead& head) {
  Json inputs = Json::array();
  for (const InputFile& input : head.inputs)
    inputs.push_back({{"path", input.typed},
                      {"sha256", input.sha256.empty() ? Json(nullptr) : Json(input.sha256)}});
  Json document;
  document["schema"] = {{"name", "gradcast/" + head.schema},
                        {"version", schema_version(head.schema)}};
  document["tool"] = {{"name", "gradcast"}, {"version", program_version()}};
  document["argv"] = head.arguments;
  document["inputs"] = inputs;
  document["seed"] = nullptr;
  if (!head.engine.empty()) document["engine"] = head.engine;
  return document;
}

std::string value_to_text(const Json& value) {
  if (value.is_null()) return "";
  if (value.is_string()) return value.get<std::string>();
  return value.is_number_float() ? number_to_text(value.get<double>()) : value.dump();
}

std::string rows_to_csv(const std::vector<Json>& rows) {
  std::string text;
  for (const Json& row : rows) {
    require_finite(row, "");
    std::vector<std::string> names;
    std::vector<std::string> values;
    for (const auto& [name, value] : row.items()) {
      names.push_back(name);
      values.push_back(value_to_text(value));
    }
    if (text.empty()) text = csv_line(names);
    text += csv_line(values);
  }
  return text;
}

std::string to_text(const Json& document) {
  require_finite(document, "");
  // Text that is not UTF-8 (a name from somebody's file) is shown with replacement characters.
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace gradcast
