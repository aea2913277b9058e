#include "sim/import/kineto/params.hpp"

#include <array>
#include <set>

#include "sim/base/csv.hpp"

namespace gradcast::kineto {

std::vector<Parameter> load_parameters(const TextFile& file) {
  constexpr std::array kColumns = {"tensor", "elements", "layer", "forward_flops"};
  CsvReader rows(file, kColumns, 2);
  std::vector<Parameter> parameters;
  std::set<std::string> seen;
  while (rows.next()) {
    const std::string& name = rows.word("tensor");
    if (!seen.insert(name).second)
      throw rows.failure("tensor",
                         "'" + name + "' stands twice; parameters need names of their own");
    std::string layer = rows.text("layer");
    if (layer.empty()) layer = name.substr(0, name.rfind('.'));
    parameters.push_back({layer, name, rows.integer("elements", 1, INT32_MAX)});
  }
  if (parameters.empty()) throw rows.failure("there are no parameters");
  return parameters;
}

}  // namespace gradcast::kineto
