// Forecast over measurement: on the diagonal where they agree, with guides beside it.
import {dot, line, ruleX} from "@observablehq/plot";
import {draw, gridAcross, gridAlong, inside, isNumber, projection, spotText} from "./chart.js";
import {numberAxis} from "./scales.js";

export function drawScatter(figure, palette, hidden) {
  const x = numberAxis(figure, "x");
  const y = numberAxis(figure, "y", {also: ["low", "high"]});
  // One scale for both, so that the diagonal is one.
  const low = Math.min(x.low, y.low);
  const high = Math.max(x.high, y.high);
  for (const axis of [x, y]) [axis.low, axis.high] = [low, high];

  const panel = ({series}, width) => {
    const margins = {top: 26, right: 18, bottom: 42, left: 56};
    const height = Math.round(Math.min(560, width) * 0.86);
    const across = width - margins.left - margins.right;
    const xScale = x.scale(across, 60);
    const yScale = y.scale(height - margins.top - margins.bottom, 44);
    const beside = (percent) =>
      [low / 10, low, high, high * 10].map((value) => ({x: value, y: value * (1 + percent / 100)}));
    const marks = [gridAcross(xScale), gridAlong(yScale)];
    for (const percent of figure.guides ?? []) {
      for (const side of [percent, -percent]) {
        marks.push(line(beside(side), {
          x: "x", y: "y", stroke: "var(--ink-soft)", strokeDasharray: "2 4", clip: true,
        }));
      }
    }
    marks.push(line(beside(0), {x: "x", y: "y", stroke: "var(--ink-soft)", clip: true}));
    const shown = series.filter(({name}) => !hidden.has(name)).map((one) => ({
      ...one, look: palette.look(figure, one),
      points: one.points.filter((point) => x.shows(point.x) && y.shows(point.y)),
    }));
    for (const {points, look} of shown) {
      const ranged = points.filter((p) => isNumber(p.low) && isNumber(p.high) && y.shows(p.low));
      marks.push(ruleX(ranged, {
        x: "x", y1: "low", y2: "high", stroke: look.colour, strokeOpacity: 0.45, strokeWidth: 1.5,
      }));
    }
    for (const {points, look} of shown) {
      marks.push(dot(points, {
        x: "x", y: "y", symbol: look.symbol, fill: look.colour, fillOpacity: 0.85,
        stroke: "var(--paper)", strokeWidth: 0.75, r: points.length > 150 ? 3 : 4.5,
      }));
    }
    const chart = draw({
      width, height, margins, marks,
      x: {...xScale, label: figure.x.label}, y: {...yScale, label: figure.y.label},
    });
    const on = projection(chart);
    const spots = shown.flatMap((one) => one.points.map((point) =>
      on.dot(on.x(point.x), on.y(point.y), spotText(figure, one, point)))).filter(inside);
    return {chart, spots};
  };
  return {swatch: "dot", narrowest: 330, widest: 600, panel};
}
