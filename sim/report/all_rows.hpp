// All rows of a result as a table, without the columns that are the same in all rows.
#pragma once
#include <string>

#include "sim/report/figure.hpp"
#include "sim/report/results.hpp"

namespace gradcast {

struct AllRows {
  FigureTable table;
  std::string same;  // "batch 128, fusion merged": what the columns that are left out say
};

AllRows all_rows_of(const ResultFile& result);

}  // namespace gradcast
