// room: cli
// words: sim/inputs/sharding.cpp sim/network/nccl_rule.cpp sim/theory/law.cpp
// words: sim/timeline/rank_choice.cpp sim/breakeven/quantity.cpp sim/forecast/preset.cpp
// longest: 200
// One value of a flag, as the parsers of choices read it: a word, or a word with numbers.

#include <cmath>

#include "sim/base/error.hpp"
#include "sim/breakeven/quantity.hpp"
#include "sim/calibration/points.hpp"
#include "sim/compare/report.hpp"
#include "sim/fit/leave_one_out.hpp"
#include "sim/fit/structure.hpp"
#include "sim/forecast/preset.hpp"
#include "sim/forecast/schedule.hpp"
#include "sim/inputs/compressor_words.hpp"
#include "sim/inputs/cost_table.hpp"
#include "sim/inputs/model.hpp"
#include "sim/inputs/sharding.hpp"
#include "sim/network/nccl_rule.hpp"
#include "sim/plan/scenario.hpp"
#include "sim/population/priors.hpp"
#include "sim/theory/law.hpp"
#include "sim/timeline/rank_choice.hpp"
#include "tests/fuzz/harness.hpp"

namespace gradcast::fuzz {
namespace {

template <class Use>
void try_use(const std::string& text, Use use) {
  try {
    use(text);
  } catch (const ValueError&) {  // another parser may take it
  }
}

void use_law(const std::string& text) {
  const Law law = parse_law(text);
  for (const Atom& atom : law.atoms) require(atom.mass > 0 && atom.mass <= 1, "an atom has a mass");
  if (law.draw) require(!std::isnan(law.draw(0.25, 0.75)), "an element is a number");
  if (law.density)
    for (const double edge : law.edges) require(!std::isnan(law.density(edge)), "a density is one");
}

void use_version(const std::string& text) {
  const NcclVersion version = parse_nccl_version(text);
  require(parse_nccl_version(to_text(version)) == version, "a version is read as written");
}

void use_ranks(const std::string& text) {
  const std::vector<std::size_t> classes(100, 0);
  for (const int rank : choose_ranks(parse_rank_choice(text), classes, 7).ranks)
    require(rank >= 0 && rank < 100, "a rank that is chosen exists");
}

void use_quantity(const std::string& text) {
  const std::size_t equals = text.find('=');
  const Quantity quantity = parse_quantity(text.substr(0, equals));
  if (equals == std::string::npos) return;
  require(std::isfinite(parse_value(quantity, text.substr(equals + 1))), "a value is a number");
}

void use_shape(const std::string& text) {
  for (const std::int64_t side : parse_shape(text)) require(side > 0, "a side has a length");
}

void read(const std::string& bytes) {
  try_use(bytes, use_law);
  try_use(bytes, use_version);
  try_use(bytes, use_ranks);
  try_use(bytes, use_quantity);
  try_use(bytes, use_shape);
  try_use(bytes, parse_sharding);
  try_use(bytes, parse_unit_size);
  try_use(bytes, parse_prefetch);
  try_use(bytes, parse_synchronise);
  try_use(bytes, parse_optimizer);
  try_use(bytes, parse_tensor_type);
  try_use(bytes, parse_parameter);
  try_use(bytes, parse_value_type);
  try_use(bytes, parse_mode);
  try_use(bytes, parse_queue);
  try_use(bytes, parse_encode_stream);
  try_use(bytes, parse_preset);
  try_use(bytes, parse_against);
  try_use(bytes, parse_spread);
  try_use(bytes, parse_input);
  try_use(bytes, parse_leave_out);
  try_use(bytes, parse_fit_scope);
  try_use(bytes, parse_max_error);
}

const Harness harness("choices", read);

}  // namespace
}  // namespace gradcast::fuzz
