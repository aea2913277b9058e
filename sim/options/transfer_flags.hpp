// The flags that carry a cost table over to another device, and what is said of it.
#pragma once
#include <string>
#include <vector>

#include "sim/forecast/request.hpp"
#include "sim/options/flags.hpp"

namespace gradcast {

void add_transfer_flags(Flags& flags);

/// Where costs are to be scaled to, and from where in case the table does not say.
struct TransferChoice {
  std::string to;  // "": they stay as they are
  std::string of;

  bool asked() const { return !to.empty(); }
  void apply(Request& request) const;
};

/// Throws UsageError for a device that traces/devices.csv lacks.
TransferChoice read_transfer(const Flags& flags, DataFiles& files);

/// Costs that a forecast used: the table as it was named, the compressor, whose kernels.
struct UsedCosts {
  std::string table;
  std::string compressor;
  std::string implementation;
  std::string folder{};  // where the table's path begins
};

/// Says of each table from where to where it was scaled, and of torch.topk by how much that was
/// wrong where it is known. Nothing where nothing was scaled.
void note_transfer(const Flags& flags, const TransferChoice& choice,
                   const std::vector<UsedCosts>& used, DataFiles& files);

}  // namespace gradcast
