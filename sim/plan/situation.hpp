// A run in the few numbers that decide whether a software time was ever seen under its conditions.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/plan/plan.hpp"

namespace gradcast {

/// One of these numbers: "calls=161".
struct SituationNumber {
  std::string_view name;
  std::string_view help;
  double (*of)(const Scenario& scenario, const Plan& plan);
  double (*parse)(std::string_view text);  // throws ValueError
  std::string (*print)(double number);
};

/// calls: buckets of an iteration, or of a micro-step where each synchronises, each of which is a
/// call of the compressor and a collective; elements, bytes: of the largest bucket, before and
/// after compression; ranks; nodes; density; compute: seconds of one GPU alone; shards: ranks that
/// share a copy, 1 where a box does not say; nic: bandwidth of a NIC.
std::span<const SituationNumber> situation_numbers();

/// The range in which a number was seen.
struct SeenRange {
  const SituationNumber* number = nullptr;
  double low = 0;
  double high = 0;

  /// "calls=1..161", or "calls=1".
  std::string text() const;
};

/// Conditions that were seen together: one range of each number.
using SeenBox = std::vector<SeenRange>;

/// "calls=1 density=0.001 | calls=161 density=0.01..0.5": the boxes of several groups of runs. A
/// run that has the calls of one and the density of another was seen by nobody. "" for nothing
/// known. Throws ValueError, with a suggestion.
std::vector<SeenBox> parse_seen(std::string_view text);
std::string to_text(const std::vector<SeenBox>& seen);

/// Takes a number that was seen into its range.
void widen(SeenBox& seen, const SituationNumber& number, double value);

/// A number within this factor of a seen range counts as seen: nobody measures every size.
inline constexpr double kSeenReach = 2;

/// LargerToo: the rate of a host, and what a library or a GPU that computes takes, limits more
/// bytes, more ranks, a faster NIC and more shards than were seen, too. Without it a message above
/// the seen sizes would cost less than one of them.
enum class HoldsFor { Seen, LargerToo };

/// The numbers by which a run lies outside of the seen ranges: "calls 161 (seen: 1)", joined by
/// "; "; "" for none. With several boxes, the box counts that it leaves in the fewest numbers.
std::string outside_of(const std::vector<SeenBox>& seen, const Scenario& scenario, const Plan& plan,
                       HoldsFor holds = HoldsFor::Seen);

}  // namespace gradcast
