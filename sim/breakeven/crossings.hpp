// Where a quantity makes a difference change its sign: the search alone, of any function.
#pragma once
#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

namespace gradcast {

/// From where to where is looked, on a logarithmic axis: 0 < from < to. Whole: numbers of nodes.
struct LookedAt {
  double from = 1;
  double to = 2;
  bool whole = false;
};

/// Where a search looks first: so many points at equal ratios, both ends among them; whole numbers
/// are rounded, each once. Two changes between neighbours that leave no trace in the values there
/// are not seen.
inline constexpr std::size_t kGridPoints = 33;
std::vector<double> grid_of(const LookedAt& range);

/// A change is closed in on until its two sides lie no further apart, relatively.
inline constexpr double kNarrow = 2e-4;

/// Above 0 is yes, all else no: a tie is no win. nullopt: there is no answer at that point.
using Advantage = std::function<std::optional<double>(double)>;

/// The answer changes between two points: neighbours where numbers are whole, else nearer than
/// kNarrow, but where points without an answer lie between (`gap`).
struct Crossing {
  double below = 0;
  double above = 0;
  bool becomes = false;  // the answer above it
  bool gap = false;
};

/// The answers along a range.
struct Course {
  /// At the first point of the grid that has an answer; nullopt: none has.
  std::optional<bool> at_start;
  std::vector<Crossing> crossings;  // rising
  std::size_t unanswered = 0;       // points of the grid

  bool constant() const { return at_start.has_value() && crossings.empty(); }
};

/// The grid, and every change of the answer in it closed in on by bisection; where three neighbours
/// come nearer to 0 and leave again, whether a pair of changes hides between them. Jumps are
/// changes like others. `advantage` is asked several times for the same point: whoever finds it
/// dear remembers the answers.
Course course_of(const LookedAt& range, const Advantage& advantage);

/// The stretch about a point in which the answer is yes.
struct Stretch {
  double low = 0;
  double high = 0;
  // It reaches to the end of the range, or to where there is no answer.
  bool low_open = false;
  bool high_open = false;
};

/// As far as the grid shows, the ends closed in on. Whole numbers: the outermost with a yes.
/// nullopt where the answer at the point itself is no.
std::optional<Stretch> stretch_about(double point, const LookedAt& range,
                                     const Advantage& advantage);

/// All stretches of a range in which the answer is yes, rising.
std::vector<Stretch> stretches_of(const LookedAt& range, const Advantage& advantage);

}  // namespace gradcast
