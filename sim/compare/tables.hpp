// The tables below the rows of a comparison. Each is "" where there is nothing to show.
#pragma once
#include <string>
#include <vector>

#include "sim/compare/comparison.hpp"

namespace gradcast {

/// The errors of all rows, and of each algorithm, model, source, ... where there are several; the
/// number of rows that are not counted; how often the measured time lay in the 90 % interval.
std::string summary_text(const std::vector<ComparedRun>& runs);

/// Says how often the forecast was right: does compressing beat dense, and which of two is faster?
std::string verdicts_text(const std::vector<ComparedRun>& runs);

/// Whether the forecast ranks the algorithms of each set-up as they were measured.
std::string rankings_text(const std::vector<ComparedRun>& runs);

std::string speedups_text(const std::vector<ComparedRun>& runs);

/// Rows with large errors, and what would explain each.
std::string suspects_text(const std::vector<ComparedRun>& runs);

/// The parts of each row's time. Parts that were measured themselves stand beside their forecasts.
std::string split_text(const std::vector<ComparedRun>& runs);

/// Whether two rows belong to one block of the table; an empty line separates blocks.
bool belong_together(const ComparedRun& a, const ComparedRun& b);

}  // namespace gradcast
