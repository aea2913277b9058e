// room: inputs
// words: sim/base/units.cpp sim/base/lists.cpp sim/inputs/fusion.cpp
// words: sim/inputs/cluster_properties.cpp
// longest: 200
// One value of a flag, as every parser of quantities and lists reads it.

#include <cmath>

#include "sim/base/error.hpp"
#include "sim/base/lists.hpp"
#include "sim/base/units.hpp"
#include "sim/inputs/cluster_values.hpp"
#include "sim/inputs/compressor_costs.hpp"
#include "sim/inputs/fusion.hpp"
#include "sim/inputs/measured.hpp"
#include "tests/fuzz/harness.hpp"

namespace gradcast::fuzz {
namespace {

/// If a parser takes a text, its printer writes it so that the parser reads the same value again.
template <class Parse, class Print>
void round_trip(const std::string& text, Parse parse, Print print) {
  try {
    const std::string printed = print(parse(text));
    require(print(parse(printed)) == printed, "a value is read as written");
  } catch (const ValueError&) {  // another parser may take it
  }
}

template <class Parse>
void try_parser(const std::string& text, Parse parse) {
  try {
    parse(text);
  } catch (const ValueError&) {  // likewise
  }
}

void read(const std::string& bytes) {
  const auto any = [](const auto& value) { return to_text(value); };
  round_trip(bytes, parse_rate, any);
  round_trip(bytes, parse_time, any);
  round_trip(bytes, parse_bytes, any);
  round_trip(bytes, parse_number, number_to_text);
  round_trip(bytes, parse_percent, percent_to_text);
  round_trip(bytes, parse_fusion, any);
  round_trip(bytes, parse_selection, any);
  for (const auto& parse : {parse_wire_bytes, parse_wire_messages, parse_concurrent_jobs,
                            parse_accumulation, parse_count})
    try_parser(bytes, parse);
  try_parser(bytes, parse_integer);
  try_parser(bytes, parse_density);
  try_parser(bytes, parse_seed);
  try_parser(bytes, parse_yes_no);
  try_parser(bytes, parse_words);
  try_parser(bytes, parse_densities);
  try_parser(bytes, [](const std::string& text) { return parse_counts_to(1000, text); });
  try_parser(bytes, [](const std::string& text) {
    for (const std::string& word : expand_list(text)) require(!word.empty(), "a word has letters");
    return 0;
  });
}

const Harness harness("values", read);

}  // namespace
}  // namespace gradcast::fuzz
