// The tables below the rows of a comparison. Each is "" where there is nothing to show.
#pragma once
#include <string>
#include <vector>

#include "sim/compare/comparison.hpp"

namespace gradcast {

/// Errors of each algorithm, model, source, ... of which there are several, and of all rows; how
/// many rows are in no figure; how often a 90 % interval held.
std::string summary_text(const std::vector<ComparedRun>& runs);

/// Whether the algorithms of each set-up came out in the order that was measured.
std::string rankings_text(const std::vector<ComparedRun>& runs);

std::string speedups_text(const std::vector<ComparedRun>& runs);

/// Rows far off, and what would explain each.
std::string suspects_text(const std::vector<ComparedRun>& runs);

/// Where each row's time goes, and the parts that were measured themselves beside their forecasts.
std::string split_text(const std::vector<ComparedRun>& runs);

/// Where one thing ends and another begins, for the eye.
bool belong_together(const ComparedRun& a, const ComparedRun& b);

}  // namespace gradcast
