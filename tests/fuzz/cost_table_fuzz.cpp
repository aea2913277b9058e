// room: inputs
// seeds: traces/cost-*.csv
// words: sim/inputs/cost_table.cpp sim/inputs/cost_grid.cpp kernels/compressors.def

#include <cmath>

#include "sim/base/error.hpp"
#include "sim/inputs/compressor_costs.hpp"
#include "sim/inputs/cost_holdout.hpp"
#include "sim/inputs/cost_transfer.hpp"
#include "tests/fuzz/harness.hpp"

namespace gradcast::fuzz {
namespace {

void require_sane(const CostEstimate& estimate) {
  require(std::isfinite(estimate.encode.count()) && std::isfinite(estimate.decode.count()) &&
              estimate.encode >= Seconds{0} && estimate.decode >= Seconds{0},
          "a cost is a time");
  require(estimate.selected >= 1 && estimate.calls >= 1, "something is selected in some call");
}

void use(const CostTable& table, const std::string& compressor) {
  const CompressorCosts costs(table, {compressor});
  for (const std::int64_t elements :
       {std::int64_t{1}, std::int64_t{100'000}, std::int64_t{1} << 31})
    for (const double density : {1e-9, 0.001, 1.0})
      for (const int workers : {1, 16, 16'384}) require_sane(costs.of(elements, density, workers));
  require_sane(costs.of_each({10, 1000, 1'000'000}, 0.01, 4));
}

void read(const std::string& bytes) {
  const CostTable table = load_cost_table(text_file(bytes, "cost-x.csv"));
  const std::string text = cost_table_csv(table, {});
  require(cost_table_csv(load_cost_table({"cost-x.csv", text}), {}) == text,
          "a cost table is read as written");
  for (const std::string& compressor : compressors_in(table)) try {
      use(table, compressor);
    } catch (const DataError&) {  // its rows are of several calls only, or of other inputs
    }
  held_out_error(table);
}

const Harness harness("cost_table", read);

}  // namespace
}  // namespace gradcast::fuzz
