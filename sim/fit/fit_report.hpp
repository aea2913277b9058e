// The report on a fit: for people and for programs.
#pragma once
#include <string>

#include "sim/answers/document.hpp"
#include "sim/fit/study.hpp"

namespace gradcast {

/// The parameters with their intervals, those that cannot be told apart, and the errors on runs
/// that were left out.
std::string fit_table(const FitStudy& study);

/// The fit's part of the summary, which is joined to that of the rows.
void add_fit_summary(Json& summary, const FitStudy& study);

}  // namespace gradcast
