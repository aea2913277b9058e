// The report page: one file that needs no other, and is complete without JavaScript. It ends with
// all rows of a result as a table.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "sim/report/figure.hpp"
#include "sim/report/headline.hpp"
#include "sim/report/palette.hpp"
#include "sim/report/results.hpp"

namespace gradcast {

/// All rows of a result, without the columns that are the same in all of them.
struct AllRows {
  FigureTable table;
  std::string same;  // "batch 128, fusion merged": what the columns that are left out say
};

AllRows all_rows_of(const ResultFile& result);

struct Page {
  std::string title;
  std::string version;  // this program's
  std::vector<ResultFile> results;
  Headline headline;
  std::vector<Figure> figures;
};

/// `style` is CSS, `script` JavaScript or "": then the pictures stay as they are.
std::string html_of(const Page& page, const Palette& palette, std::string_view style,
                    std::string_view script);

}  // namespace gradcast
