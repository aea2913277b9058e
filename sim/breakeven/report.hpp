// Break-evens as a table and as rows.
#pragma once
#include <string>
#include <vector>

#include "sim/answers/document.hpp"
#include "sim/breakeven/questions.hpp"

namespace gradcast {

/// Flat rows: one a root; one where there is none; physics first.
std::vector<Json> rows_of(const Answered& answered);

/// Sentences, then the table of all roots.
std::string breakeven_table(const std::vector<Answered>& all);

}  // namespace gradcast
