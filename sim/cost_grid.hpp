// Between and beyond the points of a cost table.
#pragma once
#include <map>
#include <set>
#include <string>

#include "sim/cost_table.hpp"

namespace gradcast {

/// What is interpolated between rows.
struct CostPoint {
  double encode = 0;  // seconds
  double decode = 0;
  double selected_share = 0;  // of k
};

/// Rows of one compressor, mode, implementation and distribution, nested by axis.
class CostGrid {
 public:
  void add(const CostRow& row);

  /// Linear in the logarithms of density and elements, and in the workers. Beyond the grid the last
  /// two points go on, but more work never takes less time, and below the smallest size nothing
  /// gets cheaper.
  CostPoint at(double density, double elements, double workers) const;

  /// Which ranges a query leaves; "" for none.
  std::string outside(double density, double elements, double workers) const;

  /// The one or two densities of the grid that a query is answered from.
  std::set<double> densities_for(double density) const;

  /// Where sizes have rows of different numbers of workers, decoding times between them would be
  /// nonsense. Says where; "" for nowhere.
  std::string hole() const;

 private:
  using ByWorkers = std::map<double, CostPoint>;
  using BySize = std::map<double, ByWorkers>;

  std::map<double, BySize> cells_;  // by density, by elements, by workers
};

}  // namespace gradcast
