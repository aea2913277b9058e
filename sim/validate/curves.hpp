// Judges what a cluster learns from logs of nccl-tests: forecasts of larger runs than any that it
// learned from, and of every other size.
#pragma once
#include <string>

#include "sim/inputs/data_files.hpp"

namespace gradcast {

/// Two tables in Markdown, by log: errors from 1 MiB up and below, beside those of the model alone
/// with the links that were derived from the same times. Nothing is fitted to a row that is
/// forecast.
std::string curves_as_markdown(DataFiles& files);

}  // namespace gradcast
