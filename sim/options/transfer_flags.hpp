// The flags that scale a cost table to another device, and the notes about it.
#pragma once
#include <string>
#include <vector>

#include "sim/forecast/request.hpp"
#include "sim/options/flags.hpp"

namespace gradcast {

void add_transfer_flags(Flags& flags);

/// The device to which costs are scaled, and the one that they are from if the table does not say.
struct TransferChoice {
  std::string to;  // "": they stay as they are
  std::string of;

  bool asked() const { return !to.empty(); }
  void apply(Request& request) const;
};

/// Throws UsageError for a device that traces/devices.csv lacks.
TransferChoice read_transfer(const Flags& flags, DataFiles& files);

/// The costs that a forecast used: the table as it was named, the compressor, and whose kernels.
struct UsedCosts {
  std::string table;
  std::string compressor;
  std::string implementation;
  std::string folder{};  // where the table's path begins
};

/// Notes where costs are scaled because the trace is of another GPU, and nobody named a table.
void note_usual_costs(const Flags& flags, const TransferChoice& choice, const Request& request,
                      DataFiles& files);

/// Notes for each table from which device to which it was scaled, and which of its times stayed as
/// they are. Notes nothing where nothing was scaled.
void note_transfer(const Flags& flags, const TransferChoice& choice,
                   const std::vector<UsedCosts>& used, DataFiles& files);

}  // namespace gradcast
