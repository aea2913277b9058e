// A figure is what a picture shows, without how it is drawn. Results become figures. A figure
// becomes a static SVG here, or an interactive picture in the browser, from the same data.
#pragma once
#include <optional>
#include <string>
#include <vector>

namespace gradcast {

enum class FigureKind {
  Lines,    // y over x, a line a series, with bands where points have low and high
  Bars,     // a bar a category of x; stacked, or side by side
  Scatter,  // points against the diagonal, with guides at so many percent
  Map,      // a cell a pair of categories: who wins, and by how much
  Lanes,    // slices of time, a lane a resource
  Ridges,   // histograms one above the other, a series each; references lie over all of them
};

/// Bytes: Log2 of sizes, with ticks like "1MiB".
enum class AxisScale { Linear, Log2, Log10, Bytes, Category };

struct Axis {
  std::string label;  // with its unit: "workers", "iteration (s)"
  AxisScale scale = AxisScale::Linear;
  std::vector<std::string> categories{};  // in their order; empty: as the points have them
};

/// One datum. Categories stand in x_text (and y_text of a Map); numbers in x and y.
struct FigurePoint {
  double x = 0;
  double y = 0;
  std::string x_text{};
  std::string y_text{};
  std::optional<double> low{};  // bounds of y
  std::optional<double> high{};
  std::string label{};  // shown at the pointer, and read by screen readers
  std::string text{};   // drawn in a cell of a Map, or beside a point of Lines
  double until = 0;     // Lanes: a slice lasts from x to this
  bool muted = false;   // Map: which is faster cannot be told
};

/// A series has the same colour in all figures: the colour belongs to the name ("topk",
/// "backward").
struct FigureSeries {
  std::string name;
  std::vector<FigurePoint> points{};
  bool reference = false;  // an ideal or a roof: dashed, without marks
};

/// A panel is one of several drawings on common scales.
struct FigurePanel {
  std::string title;  // "" of a single one
  std::vector<FigureSeries> series{};
};

struct FigureTable {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;
};

struct Figure {
  std::string id;  // "scaling-1": of letters, digits and dashes, unique in a report
  FigureKind kind = FigureKind::Lines;
  std::string title;
  std::string summary;  // the finding, in a sentence: caption, and text for screen readers
  Axis x{};
  Axis y{};
  bool stacked = false;          // Bars
  std::vector<double> guides{};  // Scatter: percent beside the diagonal
  std::vector<FigurePanel> panels{};
  FigureTable table{};  // the figures behind the picture
  /// True for the figure before it once more, by the other forecast: pages fold it under that one.
  bool again = false;
};

}  // namespace gradcast
