#include "sim/inputs/cost_holdout.hpp"

#include <cmath>
#include <map>
#include <tuple>
#include <vector>

#include "sim/base/text.hpp"
#include "sim/inputs/cost_grid.hpp"

namespace gradcast {
namespace {

using Line = std::map<double, const CostRow*>;  // by what changes along it

std::string where(const CostRow& row, const char* step) {
  std::vector<std::string> who{row.compressor};
  for (const std::string& word : {row.mode, row.implementation})
    if (!word.empty()) who.push_back(word);
  return join(who, " ") + ", " + step + " of " + std::to_string(row.elements) +
         " elements at density " + number_to_text(row.density) +
         (row.workers > 1 ? " from " + std::to_string(row.workers) + " workers" : "");
}

class Errors {
 public:
  void add(const Line& line) {
    if (line.size() < 3) return;
    for (auto left_out = std::next(line.begin()); left_out != std::prev(line.end()); ++left_out) {
      CostGrid others;
      for (const auto& [value, row] : line)
        if (value != left_out->first) others.add(*row);
      const CostRow& row = *left_out->second;
      const CostPoint predicted =
          others.at(row.density, static_cast<double>(row.elements), row.workers);
      add(row, "encode", predicted.encode, row.encode.count());
      add(row, "decode", predicted.decode, row.decode.count());
    }
  }

  HoldOut summary() const {
    if (errors_percent_.empty()) return {};
    return {summarize_errors(errors_percent_), where_};
  }

 private:
  void add(const CostRow& row, const char* step, double predicted, double actual) {
    if (actual == 0) return;  // no error can be relative to 0
    errors_percent_.push_back(100 * (predicted / actual - 1));
    const double off = std::abs(errors_percent_.back());
    if (!where_.empty() && off <= worst_) return;
    worst_ = off;
    where_ = where(row, step);
  }

  std::vector<double> errors_percent_;
  double worst_ = 0;
  std::string where_;
};

}  // namespace

HoldOut held_out_error(const CostTable& table) {
  CostRows rows;
  for (const CostRow& row : table.rows) rows.push_back(&row);
  return held_out_error(rows);
}

HoldOut held_out_error(const CostRows& rows) {
  // The last member is what stays the same along the line: the density, or the elements.
  using Key = std::tuple<std::string, std::string, std::string, double, std::string, int, double>;
  std::map<Key, Line> along_sizes;
  std::map<Key, Line> along_densities;
  for (const CostRow* each : rows) {
    const CostRow& row = *each;
    if (row.tensors > 1) continue;
    const auto elements = static_cast<double>(row.elements);
    const auto key = [&](double same) {
      return Key{row.compressor, row.mode, row.implementation, row.parameter, row.distribution,
                 row.workers,    same};
    };
    along_sizes[key(row.density)][elements] = &row;
    along_densities[key(elements)][row.density] = &row;
  }
  Errors errors;
  for (const auto& [key, line] : along_sizes) errors.add(line);
  for (const auto& [key, line] : along_densities) errors.add(line);
  return errors.summary();
}

}  // namespace gradcast
