// What a command line of `gradcast breakeven` asks for.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "sim/breakeven/quantity.hpp"
#include "sim/forecast/request.hpp"
#include "sim/forecast/schedule.hpp"
#include "sim/options/flags.hpp"

namespace gradcast {

void add_breakeven_flags(Flags& flags);

struct BreakEvenAsked {
  Request request;                       // its compressor is none of those below
  std::optional<Quantity> over;          // none: a map alone
  std::vector<std::string> compressors;  // empty: all that the cost table has
  std::string against;                   // "dense", or another compressor
  Against dense = Against::Best;         // by which schedule dense runs
  std::optional<double> from;
  std::optional<double> to;
  std::string software;  // "none": physics alone
  std::size_t jobs = 1;
  bool map = false;
  std::vector<int> map_nodes;          // empty: 1 to 64, or as many as there may be
  std::vector<double> map_bandwidths;  // bits a second

  bool all() const { return compressors.empty(); }
  bool against_dense() const { return against == "dense"; }
  /// "the fastest dense run", "dense", "topk"
  std::string against_words() const {
    return against_dense() && dense == Against::Best ? "the fastest dense run" : against;
  }
};

/// Throws UsageError.
BreakEvenAsked read_breakeven(const Flags& flags);

/// The request with another compressor: what was said of the first's alone is left out.
Request with_compressor(Request request, const std::string& compressor, bool one_of_several);

/// Where to look: as asked, else what is usual, as far as the cluster can have as many ranks and
/// the cost table has densities of all `compressors`. Throws UsageError where that is no range.
LookedAt range_of(const BreakEvenAsked& asked, const std::vector<const Scenario*>& compressors);

}  // namespace gradcast
