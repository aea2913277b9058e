// The largest batch that fits a GPU's memory: as the run is, and with what saves memory.
#pragma once
#include <string>
#include <vector>

#include "sim/decide/options.hpp"

namespace gradcast {

/// The largest batch with one way to save memory.
struct FittingBatch {
  std::string with;  // "recomputation"; "": nothing
  int batch = 0;     // samples a GPU; 0: not even the smallest fits
  Option option;     // the run with that way and that batch
};

/// The batches as the run is, with recomputation, with FSDP, and with both; ways that today's run
/// has already are left out, and those that it cannot have. Empty if the model does not say what
/// its layers keep. `asked` is the request without compressing, before defaults.
std::vector<FittingBatch> fitting_batches(const Request& asked, const Scenario& now, Bytes usable,
                                          DataFiles& files);

}  // namespace gradcast
