// Draws each kind of figure on a panel; svg.cpp lays the panels out.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "sim/report/figure.hpp"
#include "sim/report/palette.hpp"
#include "sim/report/scale.hpp"
#include "sim/report/svg_canvas.hpp"

namespace gradcast {

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
