// One look a name, the same in every figure of a report: colours that the colour-blind tell apart
// (Okabe and Ito), and a mark or a pattern as well.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "sim/report/figure.hpp"

namespace gradcast {

struct Look {
  std::string color;  // "#rrggbb"
  int mark = 0;       // of kMarks
  int pattern = 0;    // of kPatterns; 0 is plain
};

inline constexpr int kMarks = 7;
inline constexpr int kPatterns = 4;

/// Compressors and parts of the iteration have looks of their own; other names, sorted, take the
/// further ones in turn. References have none: they are dashed and of the text's colour.
class Palette {
 public:
  explicit Palette(const std::vector<Figure>& figures);
  /// Grey and plain for a reference, and for a name that is in no figure.
  const Look& of(const std::string& name) const;

 private:
  std::map<std::string, Look> looks_;
};

}  // namespace gradcast
