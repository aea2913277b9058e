// Between and beyond the points of a cost table.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "sim/inputs/cost_table.hpp"

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
  /// `wanted`: k of the row, of which `selected` is a share.
  void add(const CostRow& row, std::int64_t wanted);
  /// Of a single tensor.
  void add(const CostRow& row) { add(row, wanted_elements(row.elements, row.density)); }

  /// Leaves out sizes that lack numbers of workers which others have: decoding times between them
  /// would be nonsense, and an interrupted calibration ends with one. Where that is more than it
  /// keeps, the table is no such one: says what is lacking. "" for all is well.
  std::string leave_out_unfinished();

  /// What a call costs at the least, the least time of its line, is set aside; what is above it
  /// grows as a power of the elements and of the density. Linear in the workers. Beyond the grid it
  /// goes on in proportion, but more work never takes less time, and below the smallest size
  /// nothing gets cheaper.
  CostPoint at(double density, double elements, double workers) const;

  /// True where a query needs no interpolation.
  bool has(double density, double elements, double workers) const;

  /// Which ranges of the densities that it is answered from a query leaves; "" for none.
  std::string outside(double density, double elements, double workers) const;

  /// The one or two densities of the grid that a query is answered from.
  std::vector<double> densities_for(double density) const;

 private:
  using ByWorkers = std::map<double, CostPoint>;
  using BySize = std::map<double, ByWorkers>;

  std::map<double, BySize> cells_;  // by density, by elements, by workers
};

}  // namespace gradcast
