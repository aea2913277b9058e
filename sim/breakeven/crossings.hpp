// Finds where a function changes its sign over a quantity. This is the search alone, for any
// function.
#pragma once
#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

namespace gradcast {

/// The range to search, on a logarithmic axis: 0 < from < to. `whole`: whole numbers only, like
/// nodes.
struct LookedAt {
  double from = 1;
  double to = 2;
  bool whole = false;
};

/// The grid on which a search begins: this many points at equal ratios, with both ends. Whole
/// numbers are rounded, and each is there once. Two changes between neighbours that leave no trace
/// in the values there are not found.
inline constexpr std::size_t kGridPoints = 33;
std::vector<double> grid_of(const LookedAt& range);

/// A change is narrowed down until its two sides are no further apart than this, relatively.
inline constexpr double kNarrow = 2e-4;

/// The advantage at a point: above 0 means yes, all else means no, so a tie is not a win. nullopt:
/// there is no answer at that point.
using Advantage = std::function<std::optional<double>(double)>;

/// The answer changes between two points. Whole numbers are neighbours; others are closer than
/// kNarrow, unless points without an answer lie between them (`gap`).
struct Crossing {
  double below = 0;
  double above = 0;
  bool becomes = false;  // the answer above it
  bool gap = false;
};

/// The answers along a range.
struct Course {
  /// The answer at the first point of the grid that has one; nullopt if none has.
  std::optional<bool> at_start;
  std::vector<Crossing> crossings;  // rising
  std::size_t unanswered = 0;       // points of the grid

  bool constant() const { return at_start.has_value() && crossings.empty(); }
};

/// Evaluates the grid, and narrows down every change of the answer in it by bisection. If three
/// neighbours come nearer to 0 and leave again, it also looks for a pair of changes between them.
/// Jumps are changes like others. `advantage` is called several times for the same point; if that
/// is expensive, it should keep its answers.
Course course_of(const LookedAt& range, const Advantage& advantage);

/// The part of the range around a point in which the answer is yes.
struct Stretch {
  double low = 0;
  double high = 0;
  // True if the part reaches to the end of the range, or to where there is no answer.
  bool low_open = false;
  bool high_open = false;
};

/// Finds that part as far as the grid shows, with its ends narrowed down. For whole numbers the
/// ends are the outermost ones with a yes. nullopt if the answer at the point itself is no.
std::optional<Stretch> stretch_about(double point, const LookedAt& range,
                                     const Advantage& advantage);

/// All parts of a range in which the answer is yes, in rising order.
std::vector<Stretch> stretches_of(const LookedAt& range, const Advantage& advantage);

}  // namespace gradcast
