// room: answers
// longest: 1024

#include "sim/answers/json_reader.hpp"
#include "tests/fuzz/harness.hpp"

namespace gradcast::fuzz {
namespace {

void read(const std::string& bytes) {
  const Json document = parse_json(bytes, "x.json");
  const std::string text = document.dump();
  require(parse_json(text, "x.json").dump() == text, "a document is read as written");
  BlockReader file(file_of(bytes, "x.json"));
  std::size_t items = 0;
  read_json(file, {{"", "results"}, [&](std::size_t, Json&) { ++items; }});
  require(!document.is_array() || items == document.size(), "each item of a list is handed over");
}

const Harness harness("json", read);

}  // namespace
}  // namespace gradcast::fuzz
