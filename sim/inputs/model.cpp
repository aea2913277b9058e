#include "sim/inputs/model.hpp"

#include <array>
#include <set>

#include "sim/base/csv.hpp"
#include "sim/base/text.hpp"
#include "sim/base/units.hpp"

namespace gradcast {
namespace {
constexpr std::array kModelColumns = {"layer", "tensor", "elements", "forward_flops"};
}  // namespace

std::int64_t Model::elements() const {
  std::int64_t sum = 0;
  for (const GradientTensor& tensor : tensors) sum += tensor.elements;
  return sum;
}

double Model::forward_flops() const {
  double sum = 0;
  for (const GradientTensor& tensor : tensors) sum += tensor.forward_flops;
  return sum;
}

Model load_model(const TextFile& file) {
  Model model{file.path.stem().string(), {}};
  CsvReader rows(file, kModelColumns);
  std::set<std::string> seen;
  while (rows.next()) {
    const std::string& tensor = rows.word("tensor");
    if (!seen.insert(tensor).second)
      throw rows.failure("tensor",
                         "'" + tensor + "' stands twice; tensors need names of their own");
    model.tensors.push_back({rows.word("layer"), tensor, rows.integer("elements", 1, INT32_MAX),
                             rows.number("forward_flops", 0, 1e18)});
  }
  if (model.tensors.empty()) throw rows.failure("the model has no tensors");
  return model;
}

std::string model_csv(const Model& model, const std::vector<std::string>& provenance) {
  std::string text =
      csv_comments(provenance) + csv_line({kModelColumns.begin(), kModelColumns.end()});
  for (const GradientTensor& tensor : model.tensors)
    text += csv_line({tensor.layer, tensor.tensor, std::to_string(tensor.elements),
                      number_to_text(tensor.forward_flops)});
  return text;
}

}  // namespace gradcast
