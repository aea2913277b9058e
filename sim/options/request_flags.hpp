// The flags that describe a run to be forecast.
#pragma once
#include <set>
#include <string>
#include <string_view>

#include "sim/base/units.hpp"
#include "sim/forecast/request.hpp"
#include "sim/options/flags.hpp"

namespace gradcast {

void add_request_flags(Flags& flags);

/// The flags that describe the cluster alone: its file, and each property.
void add_cluster_flags(Flags& flags);

/// Time of an iteration on one GPU, above 0. A bare number is in seconds, as the flag's name says.
/// Throws ValueError.
Seconds parse_compute_seconds(std::string_view text);

/// Fills that part of the request. Throws UsageError.
void read_cluster(const Flags& flags, Request& request, const std::set<std::string>& lists = {});

/// `lists`: flags of the cluster that the command reads itself, because they hold a list in it
/// ("nodes"). Throws UsageError.
Request read_request(const Flags& flags, const std::set<std::string>& lists = {});

}  // namespace gradcast
