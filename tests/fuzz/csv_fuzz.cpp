// room: base
// seeds: tests/fuzz/corpus/csv/seed-*.csv

#include <array>

#include "tests/fuzz/harness.hpp"
#include "tests/sim/base/reference_csv.hpp"

namespace gradcast::fuzz {
namespace {

void read(const std::string& bytes) {
  const TextFile file = text_file(bytes, "x.csv");
  constexpr std::array kColumns = {"a", "b", "c"};
  for (const std::size_t required : {std::size_t{0}, std::size_t{2}})
    require(told_by_reader(file, kColumns, required) == told_by_reference(file, kColumns, required),
            "a reader that uses no library reads the same");
}

const Harness harness("csv", read);

}  // namespace
}  // namespace gradcast::fuzz
