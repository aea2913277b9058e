// The error of a forecast because nobody measured what a link reaches: the deviations that a
// cluster's file states of its links, and what a host's sockets carry.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "sim/forecast/software_spread.hpp"
#include "sim/plan/scenario.hpp"

namespace gradcast {

/// The ends of a 90 % interval lie so many deviations away.
double interval_reach();

/// A link with the cluster at the slow and the fast end of the 90 % interval of what it reaches.
/// Deviations of the logarithm that a file states end after `reach` of them, PCIe 4.0 at what a
/// slot carries. NCCL chooses at both ends as on the cluster itself.
struct LinkDoubt {
  std::string name;  // "link of 25gbe: sockets"
  Cluster slow;
  Cluster fast;
  double slower = 1;  // the rate that is taken over that at the slow end
  double faster = 1;  // the rate at the fast end over that which is taken
};

/// True for the name of a link's doubt.
bool is_link(const std::string& name);
/// True for one that nccl-tests would settle: NCCL's own, not that of another library.
bool is_link_of_nccl(const std::string& name);

/// The links of a run that nobody measured. None where the run's collectives take measured times of
/// the cluster. A stack that was learned there leaves those that its runs did not show. A value
/// that somebody typed (`Scenario::stated`) has no doubt either.
std::vector<LinkDoubt> link_doubts(const Scenario& scenario, double reach);

/// The part of an iteration that a link takes, with deviations of the logarithm above and below.
struct LinkTime {
  double seconds = 0;
  double above = 0;
  double below = 0;
};

/// A link's part, from the times with the cluster as it is and at both ends; 0 where it binds
/// nothing.
LinkTime link_time(const LinkDoubt& doubt, double reach,
                   const std::function<double(const Cluster&)>& time_on, const Cluster& as_it_is);

/// A link as a learned stack names it, with the rate that its runs had: "link of home: sockets at
/// 1.18GBps". Another GPU or another NIC has another one.
std::string shown_as(const std::string& link, const Scenario& scenario);

/// Seconds that the iteration takes more at a link's slow end.
double longer_at_slow_end(const SpreadTerm& link);

/// "; GPUs of a node at 6.7GBps, not measured: the interval has 1.1GBps to 24GBps (...)": the links
/// that make the interval 1 % of the forecast longer, or more; "" for none.
std::string link_words(const Scenario& scenario, const SoftwareSpread& spread);

}  // namespace gradcast
