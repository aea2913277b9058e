// Interpolation between the points of a cost table, and extrapolation beyond them.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/inputs/cost_table.hpp"

namespace gradcast {

/// The values that are interpolated between rows.
struct CostPoint {
  double encode = 0;  // seconds
  double decode = 0;
  double selected_share = 0;  // of k
};

/// Factor beyond a table's range up to which an answer is given although nobody insists on it.
inline constexpr double kFarBeyond = 3;

/// Rows of one compressor, mode, implementation and distribution, nested by axis.
class CostGrid {
 public:
  /// `wanted`: k of the row, of which `selected` is a share.
  void add(const CostRow& row, std::int64_t wanted);
  /// Adds a row of a single tensor.
  void add(const CostRow& row) { add(row, wanted_elements(row.elements, row.density)); }

  /// Leaves out sizes for which some numbers of workers are missing that others have. Decoding
  /// times interpolated there would be nonsense, and an interrupted calibration ends with one such
  /// size. If it would leave out more sizes than it keeps, the table is wrong in another way:
  /// returns what is missing. Returns "" if all is well.
  std::string leave_out_unfinished();

  /// The costs at a point. The floor of a call is the least time of its line. The time above the
  /// floor grows as a power of the elements and of the density. Costs are linear in the workers.
  /// Beyond the grid they grow in proportion, but more work never takes less time, and below the
  /// smallest size nothing gets cheaper.
  CostPoint at(double density, double elements, double workers) const;

  /// True where the grid has the very point, so that nothing is interpolated.
  bool has(double density, double elements, double workers) const;

  /// The ranges that a query lies outside of, among the densities from which it is answered; "" for
  /// none.
  std::string outside(double density, double elements, double workers) const;

  /// A density that is beyond the range by more than kFarBeyond, or a size above it by as much: an
  /// answer for it is no measurement's. "" for none. Sizes below the range do no harm: a call takes
  /// as long as one of the smallest.
  std::string far_outside(double density, double elements) const;

  /// The density `at`, but none beyond the grid's range; where `asked` lies beyond it, none further
  /// from it than that.
  double within(double at, double asked) const;

  /// The one or two densities of the grid from which a query is answered.
  std::vector<double> densities_for(double density) const;

  /// The only size at the densities from which a query is answered, if there is only one.
  std::optional<double> only_size(double density) const;

  /// The one or two sizes, at a density of the grid, from which a query is answered.
  std::vector<double> sizes_for(double grid_density, double elements) const;

 private:
  using ByWorkers = std::map<double, CostPoint>;
  using BySize = std::map<double, ByWorkers>;

  std::map<double, BySize> cells_;  // by density, by elements, by workers
};

}  // namespace gradcast
