// Shapes as SVG elements, and what draws each kind of figure with them on a panel; svg.cpp lays the
// panels out.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sim/report/figure.hpp"
#include "sim/report/palette.hpp"
#include "sim/report/scale.hpp"

namespace gradcast {

/// A box in CSS pixels, y downwards.
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

/// Text and lines take the surroundings' colour (currentColor), so that a picture is right on dark,
/// on light and on paper.
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

inline constexpr double kTextSize = 12;
inline constexpr double kTickSize = 11;

class Painter {
 public:
  Painter(const Figure& figure, const Palette& palette) : figure_(figure), palette_(palette) {}
  virtual ~Painter() = default;
  Painter(const Painter&) = delete;
  Painter& operator=(const Painter&) = delete;

  /// The number of panels side by side.
  virtual std::size_t columns() const;
  /// The width of the whole picture.
  virtual double width() const { return figure_.panels.size() == 1 ? 720 : 960; }
  /// The space beside a panel's plot, for labels of the y axis and for what ends beyond the last
  /// tick.
  virtual double left_margin() const { return 46; }
  virtual double right_margin() const { return 16; }
  virtual double plot_height(const FigurePanel& panel, double width) const = 0;
  virtual void paint(Canvas& canvas, const FigurePanel& panel, const Box& plot) const = 0;
  /// A series whose name stands beside its drawing needs no entry.
  virtual bool in_legend(const FigureSeries&) const { return true; }
  /// Draws the sample of a legend's entry, 22 pixels wide.
  virtual void swatch(Canvas& canvas, double x, double y, const FigureSeries& series) const;
  /// The texts above the first panel and below the lowest ones; "" for none.
  virtual std::string top_label() const { return figure_.y.label; }
  virtual std::string bottom_label() const { return figure_.x.label; }

 protected:
  const Figure& figure_;
  const Palette& palette_;
};

std::unique_ptr<Painter> lines_painter(const Figure& figure, const Palette& palette);
std::unique_ptr<Painter> scatter_painter(const Figure& figure, const Palette& palette);
std::unique_ptr<Painter> bars_painter(const Figure& figure, const Palette& palette);
std::unique_ptr<Painter> map_painter(const Figure& figure, const Palette& palette);
std::unique_ptr<Painter> lanes_painter(const Figure& figure, const Palette& palette);
std::unique_ptr<Painter> ridges_painter(const Figure& figure, const Palette& palette);

/// Ticks, their texts and grid lines.
void draw_x_axis(Canvas& canvas, const Scale& scale, const Box& plot);
void draw_y_axis(Canvas& canvas, const Scale& scale, const Box& plot);

/// The smallest and the largest number of many.
struct Range {
  double low = 1e300;
  double high = -1e300;
  void add(double value);
};

/// The x_text, or y_text, of a panel's points: as the axis lists them, else in the order in which
/// they first appear.
std::vector<std::string> categories_of(const FigurePanel& panel, std::string FigurePoint::*which,
                                       const std::vector<std::string>& listed = {});

/// The width of the widest label, with a gap, and at most `most`.
double label_margin(const Figure& figure, std::string FigurePoint::*which, double most);

}  // namespace gradcast
