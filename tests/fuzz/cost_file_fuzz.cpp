// room: calibration
// seeds: traces/cost-*.csv
// words: sim/calibration/cost_file.cpp sim/inputs/cost_table.cpp
// A cost table that `calibrate` goes on with.

#include <set>

#include "sim/calibration/cost_file.hpp"
#include "tests/fuzz/harness.hpp"

namespace gradcast::fuzz {
namespace {

std::vector<int> workers_in(const std::string& bytes) {
  std::set<int> workers;
  for (const CostRow& row : load_cost_table(text_file(bytes, "cost.csv")).rows)
    workers.insert(row.workers);
  return {workers.begin(), workers.end()};
}

void read(const std::string& bytes) {
  const std::vector<int> workers = workers_in(bytes);
  const std::string path = file_of(bytes, "cost.csv");
  CostFile file(path, {{"date", "today"}, {"device", "Tesla V100"}}, workers);
  file.require({"device", "Tesla V100"});
  file.tell_command("gradcast calibrate");
  CostRow row = file.rows().front();
  row.elements = 12345;
  row.selected = 1;
  const std::size_t before = file.rows().size();
  const bool there = file.has(row);
  file.add({row});
  require(file.has(row) && file.rows().size() == before + (there ? 0 : 1), "a new row is added");
  const CostFile again(path, {}, workers);
  require(again.rows().size() == file.rows().size(), "all rows are in the file");
}

const Harness harness("cost_file", read);

}  // namespace
}  // namespace gradcast::fuzz
