// The look of each name, the same in every figure of a report: a colour that colour-blind people
// can distinguish (Okabe and Ito), and a mark or a pattern.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "sim/report/figure.hpp"

namespace gradcast {

struct Look {
  std::string color;  // "#rrggbb"
  int mark = 0;       // 0 to kMarks - 1
  int pattern = 0;    // 0 to kPatterns - 1; 0 is plain
};

inline constexpr int kMarks = 7;
inline constexpr int kPatterns = 4;

/// Compressors and parts of the iteration have fixed looks; "topk 0.001" has that of topk, unless a
/// figure has two such names. Other names, in sorted order, take the remaining looks in turn.
/// References have none: they are dashed, in the colour of the text.
class Palette {
 public:
  explicit Palette(const std::vector<Figure>& figures);
  /// The look of a name. It is grey and plain for a reference, and for a name that is in no figure.
  const Look& of(const std::string& name) const;

 private:
  std::map<std::string, Look> looks_;
};

}  // namespace gradcast
