// room: inputs
// seeds: models/*.csv
// words: sim/inputs/model.cpp

#include "sim/inputs/fusion.hpp"
#include "sim/inputs/model.hpp"
#include "tests/fuzz/harness.hpp"

namespace gradcast::fuzz {
namespace {

void read(const std::string& bytes) {
  const Model model = load_model(text_file(bytes, "model.csv"));
  const std::string text = model_csv(model, {});
  require(model_csv(load_model({"model.csv", text}), {}) == text, "a model is read as written");
  for (const char* fusion : {"layer", "merged", "25MiB", "ddp"}) {
    std::int64_t elements = 0;
    for (const Bucket& bucket : make_buckets(model, parse_fusion(fusion)))
      elements += bucket.elements;
    require(elements == model.elements(), "buckets hold each tensor once");
  }
}

const Harness harness("model", read);

}  // namespace
}  // namespace gradcast::fuzz
