#include "sim/import/weights/weight_notes.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "sim/base/clean_text.hpp"
#include "sim/base/error.hpp"
#include "sim/base/text.hpp"

namespace gradcast {
namespace {

/// "a.running_mean, b.running_mean, ... (49 in all)"
std::string some_of(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 2;
  std::vector<std::string> shown(
      names.begin(), names.begin() + static_cast<std::ptrdiff_t>(std::min(kShown, names.size())));
  for (std::string& name : shown) name = shortened(clean_text(name), 60);
  return join(shown) + (names.size() > kShown ? ", ..." : "");
}

bool has_part(const std::string& name, std::string_view part) {
  const std::vector<std::string> parts = split_words(name, '.');
  return std::find(parts.begin(), parts.end(), part) != parts.end();
}

}  // namespace

void refuse_quantised(const std::vector<Weight>& weights, const std::string& file) {
  constexpr std::array<std::string_view, 5> kPacked = {"qweight", "qzeros", "quant_map", "absmax",
                                                       "SCB"};
  for (const Weight& weight : weights)
    for (const std::string_view part : kPacked)
      if (leaf_of(weight.name) == part)
        throw DataError(file, 0,
                        "is a quantised checkpoint (it has " +
                            in_quotes(shortened(clean_text(weight.name), 60)) +
                            "): its packed tensors are not those that are trained; give the "
                            "original one");
}

void require_sane_sum(const std::vector<Weight>& weights, const std::string& file) {
  constexpr std::int64_t kMost = 4'000'000'000'000;
  std::int64_t sum = 0;
  for (const Weight& weight : weights)
    if ((sum += weight.elements()) > kMost)
      throw DataError(file, 0,
                      "has more than " + std::to_string(kMost) + " elements, as no network has");
}

void drop_untrained(std::vector<Weight>& weights, ImportNotes& notes) {
  std::vector<std::string> reasons;  // in the order in which they were met
  std::map<std::string, std::vector<std::string>> dropped;
  std::erase_if(weights, [&](const Weight& weight) {
    const std::string why = why_not_trained(weight);
    if (why.empty()) return false;
    if (dropped[why].empty()) reasons.push_back(why);
    dropped[why].push_back(weight.name);
    return true;
  });
  for (const std::string& why : reasons)
    notes.dropped.push_back(std::to_string(dropped[why].size()) +
                            (dropped[why].size() == 1 ? " tensor" : " tensors") +
                            " without gradients, " + why + ": " + some_of(dropped[why]));
}

const Weight* token_embedding(const std::vector<Weight>& weights) {
  for (const std::string_view name :
       {"embed_tokens", "wte", "word_embeddings", "tok_embeddings", "token_embeddings",
        "token_embedding", "embed_in", "embeddings", "embedding", "shared"})
    for (const Weight& weight : weights)
      if (weight.shape.size() == 2 && has_part(layer_of(weight.name), name)) return &weight;
  return nullptr;
}

bool has_head(const std::vector<Weight>& weights) {
  return std::any_of(weights.begin(), weights.end(), [](const Weight& weight) {
    if (weight.shape.size() != 2) return false;
    const std::string first = split_words(weight.name, '.').front();
    return weight.name.find("lm_head") != std::string::npos || first == "embed_out" ||
           first == "output" || first == "head" || first == "score" || first == "classifier" ||
           first == "cls" || first == "fc" || first == "qa_outputs";
  });
}

void note_tied_head(const std::vector<Weight>& weights, ImportNotes& notes) {
  const Weight* table = token_embedding(weights);
  if (table == nullptr || has_head(weights)) return;
  notes.inferred.push_back("there is no lm_head.weight: the head is taken to share the table " +
                           in_quotes(shortened(clean_text(table->name), 60)) +
                           ", which is one gradient");
}

}  // namespace gradcast
