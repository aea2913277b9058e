// Shapes as SVG elements. Text and lines take the surroundings' colour (currentColor), so that a
// picture is right on dark, on light and on paper.
#pragma once
#include <string>
#include <string_view>

#include "sim/report/palette.hpp"

namespace gradcast {

/// In CSS pixels, y downwards.
struct Box {
  double left = 0;
  double top = 0;
  double width = 0;
  double height = 0;
  double right() const { return left + width; }
  double bottom() const { return top + height; }
};

enum class Anchor { Start, Middle, End };

/// The approximate width of a text in a browser's sans-serif font; rather too wide than too narrow.
double text_width(std::string_view text, double size);

/// The text, shortened so that it fits.
std::string fitted(std::string_view text, double size, double width);

class Canvas {
 public:
  explicit Canvas(std::string id) : id_(std::move(id)) {}

  /// A text that is cut has the whole text in its title.
  void text(double x, double y, std::string_view text, Anchor anchor, double size,
            double most_width = 1e9, const std::string& attributes = "");
  void line(double x1, double y1, double x2, double y2, const std::string& attributes);
  void path(const std::string& d, const std::string& attributes, std::string_view title = "");
  void mark(double x, double y, const Look& look, std::string_view title = "", double opacity = 1);
  /// A filled rectangle with the look's pattern over it.
  void block(const Box& box, const Look& look, std::string_view title = "", double opacity = 1);

  const std::string& content() const { return content_; }
  /// Patterns that blocks refer to.
  static std::string patterns(const std::string& id);

 private:
  std::string id_;
  std::string content_;
};

/// "12.3": a tenth of a pixel is fine enough.
std::string pixels(double value);

inline const std::string kGridLine = "stroke=\"currentColor\" stroke-opacity=\".14\"";
inline const std::string kAxisLine = "stroke=\"currentColor\" stroke-opacity=\".5\"";
inline const std::string kReferenceLine =
    "stroke=\"currentColor\" stroke-opacity=\".65\" stroke-width=\"1.5\" stroke-dasharray=\"5 4\" "
    "fill=\"none\"";

}  // namespace gradcast
