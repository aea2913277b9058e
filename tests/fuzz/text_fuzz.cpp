// room: base
// longest: 300
// Three words, a line each: suggestions, natural order, lists in one line of CSV.

#include "sim/base/csv.hpp"
#include "sim/base/text.hpp"
#include "tests/fuzz/harness.hpp"

namespace gradcast::fuzz {
namespace {

bool equal(const std::string& a, const std::string& b) {
  return !natural_less(a, b) && !natural_less(b, a);
}

/// Requires a strict order, without which a sort may run off its end.
void require_order(const std::string& a, const std::string& b, const std::string& c) {
  require(!natural_less(a, a), "nothing is less than itself");
  require(!natural_less(a, b) || !natural_less(b, a), "one of two is less");
  require(!natural_less(a, b) || !natural_less(b, c) || natural_less(a, c), "order is transitive");
  require(!equal(a, b) || !equal(b, c) || equal(a, c), "equality is transitive");
}

void read(const std::string& bytes) {
  std::vector<std::string> words = split_words(text_file(bytes, "words").content, '\n');
  words.resize(3);
  require_order(words[0], words[1], words[2]);
  require_order(words[2], words[0], words[1]);
  require_order(words[1], words[0], words[2]);
  did_you_mean(words[0], {words[1], words[2]});
  const TextFile file{"words.csv", "a,b,c\n" + csv_line(words)};
  static constexpr const char* kColumns[] = {"a", "b", "c"};
  CsvReader rows(file, kColumns);
  // A row without a word is skipped.
  if (words[0].empty() && words[1].empty() && words[2].empty())
    return require(!rows.next(), "an empty row is none");
  require(rows.next() && rows.text("a") == words[0] && rows.text("b") == words[1] &&
              rows.text("c") == words[2] && !rows.next(),
          "a line is read as written");
}

const Harness harness("text", read);

}  // namespace
}  // namespace gradcast::fuzz
