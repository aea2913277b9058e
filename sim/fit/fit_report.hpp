// What there is to say of a fit: for people and for programs.
#pragma once
#include <string>

#include "sim/answers/document.hpp"
#include "sim/fit/study.hpp"

namespace gradcast {

/// Parameters with their intervals, what cannot be told apart, and how good it is where it was left
/// out.
std::string fit_table(const FitStudy& study);

/// Joined to the summary of the rows.
void add_fit_summary(Json& summary, const FitStudy& study);

}  // namespace gradcast
