// Flags of `gradcast breakeven`.
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

/// The request with another compressor, without the settings that apply only to the first one.
Request with_compressor(Request request, const std::string& compressor, bool one_of_several);

/// The range to search: the one asked for or, by default, the usual one. The default keeps to ranks
/// that the cluster can have and to densities that the cost table has for all `compressors`. Throws
/// UsageError if the range is empty.
LookedAt range_of(const BreakEvenAsked& asked, const std::vector<const Scenario*>& compressors);

}  // namespace gradcast
