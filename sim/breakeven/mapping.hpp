// Fills the map of who is fastest: every candidate forecast in every cell.
#pragma once
#include <vector>

#include "sim/breakeven/asked.hpp"
#include "sim/breakeven/contestants.hpp"
#include "sim/breakeven/win_map.hpp"
#include "sim/engine/engine.hpp"
#include "sim/inputs/data_files.hpp"

namespace gradcast {

/// Dense and all contestants. A coarse grid needs no messages: where the engine chooses,
/// collectives are flows. `quiet`: how far it is is not shown. Throws Error (130) where it is
/// interrupted.
WinMap make_map(const BreakEvenAsked& asked, const std::vector<Contestant>& contestants,
                const Engine& engine, DataFiles& files, bool quiet);

}  // namespace gradcast
