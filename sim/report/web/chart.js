// The parts that all kinds of pictures share.
import {axisX, axisY, gridX, gridY, plot} from "@observablehq/plot";
import {numberText} from "./numbers.js";

/// Observable Plot in the page's colours. Plot asks window.devicePixelRatio for half-pixel offsets, so
/// screens differ by that much and no more.
export function draw({width, height, margins, x, y, marks}) {
  // Plot would put an arrow beside no label at all.
  const named = (scale) => ({...scale, label: scale.label || null});
  // And it would leave out some of a logarithmic axis' texts: that axis is drawn with its own.
  const logAxes = [[axisX, x], [axisY, y]].filter(([, scale]) => scale.type === "log")
    .map(([axis, {ticks, tickFormat, label}]) => axis(ticks, {text: tickFormat, label}));
  const shown = (scale) => (scale.type === "log" ? {...scale, axis: null} : named(scale));
  const chart = plot({
    width, height, marks: [...marks, ...logAxes], x: shown(x), y: shown(y), className: "chart",
    marginTop: margins.top, marginRight: margins.right,
    marginBottom: margins.bottom, marginLeft: margins.left,
  });
  if (chart.tagName !== "svg") throw new Error("no picture");
  // Plot names its marks for those who read markup; a picture has one name, which says what it shows.
  for (const part of chart.querySelectorAll("[aria-label]")) part.removeAttribute("aria-label");
  return chart;
}

/// Lines at an axis' ticks and nowhere else.
const gridLook = {stroke: "var(--rule)", strokeOpacity: 1};
const gridOf = (mark, {ticks}) =>
  (Array.isArray(ticks) ? mark(ticks, gridLook) : mark({...gridLook, ticks}));
export const gridAcross = (scale) => gridOf(gridX, scale);
export const gridAlong = (scale) => gridOf(gridY, scale);

export const isNumber = (value) => typeof value === "number" && Number.isFinite(value);

/// The text that a pointer is told: the label that came with the point, else its series and numbers.
export function spotText(figure, series, point) {
  if (point.label) return point.label;
  const part = (axis, text, value) => {
    const shown = text || (typeof value === "number" ? numberText(value) : "");
    return shown && `${axis.label}: ${shown}`;
  };
  const range = typeof point.low === "number" && typeof point.high === "number"
    ? `from ${numberText(point.low)} to ${numberText(point.high)}` : "";
  return [series.name, part(figure.x, point.x_text, point.x), part(figure.y, point.y_text, point.y),
          range, point.text].filter(Boolean).join("\n");
}

/// Places on a drawn chart: pixels of values, and spots of dots and boxes with their texts.
export function projection(chart) {
  const x = chart.scale("x");
  const y = chart.scale("y");
  return {
    x: (value) => x.apply(value),
    y: (value) => y.apply(value),
    dot: (px, py, text, reach = 5) =>
      ({left: px - reach, right: px + reach, top: py - reach, bottom: py + reach, text}),
    box: (x1, x2, y1, y2, text) => {
      const [px1, px2] = [x.apply(x1), x.apply(x2)];
      const [py1, py2] = [y.apply(y1), y.apply(y2)];
      return {
        left: Math.min(px1, px2), right: Math.max(px1, px2),
        top: Math.min(py1, py2), bottom: Math.max(py1, py2), text,
      };
    },
  };
}

export const inside = (spot) =>
  [spot.left, spot.right, spot.top, spot.bottom].every((edge) => Number.isFinite(edge));
