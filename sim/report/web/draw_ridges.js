// Histograms one above the other, on one scale: a series each, with its name beside its baseline.
import {areaY, line} from "@observablehq/plot";
import {draw, gridAcross, inside, isNumber, projection, spotText} from "./chart.js";
import {CategoryAxis, numberAxis, pointsOf, textPixels} from "./scales.js";

const rowPixels = 34;
const overlap = 2.4;  // the highest ridge, in rows

export function drawRidges(figure, palette, hidden) {
  const x = numberAxis(figure, "x");
  const highest = pointsOf(figure).reduce((most, {y}) => (isNumber(y) ? Math.max(most, y) : most), 0);
  if (highest <= 0) throw new Error("nothing to draw");
  // All ridges have the look of the first.
  const first = figure.panels.flatMap(({series}) => series).find(({reference}) => !reference);
  const {colour} = palette.look(figure, first);
  const widest = figure.panels.flatMap(({series}) => series).filter(({reference}) => !reference)
    .reduce((most, {name}) => Math.max(most, textPixels(name)), 0);

  const panel = ({series}, width) => {
    const ridges = series.filter(({reference, points}) => !reference && points.length > 0);
    const references = series.filter(({reference, name}) => reference && !hidden.has(name));
    const rows = new CategoryAxis(figure.y, ridges.map(({name}) => name));
    const left = Math.min(widest + 16, Math.floor(width * 0.35));
    const margins = {top: 8, right: 18, bottom: 42, left};
    const height = Math.round(
      margins.top + margins.bottom + rowPixels * (rows.names.length + overlap - 1) + 6);
    const xScale = x.scale(width - left - margins.right, 46);
    const above = (baseline, y) => baseline - (Math.max(0, y) / highest) * overlap;
    const marks = [gridAcross(xScale)];
    const shown = ridges.map((one) => ({one, baseline: rows.place(one.name)}));
    for (const {one, baseline} of shown) {
      const at = {x: "x", y: ({y}) => above(baseline, y)};
      marks.push(areaY(one.points, {
        x: "x", y1: () => baseline, y2: at.y, fill: colour, fillOpacity: 0.35}));
      marks.push(line(one.points, {...at, stroke: colour, strokeWidth: 1.2}));
      for (const reference of references) {
        const look = palette.look(figure, reference);
        marks.push(line(reference.points, {
          ...at, stroke: look.colour, strokeDasharray: look.dash, strokeWidth: 1.5}));
      }
    }
    const chart = draw({
      width, height, margins, marks,
      x: {...xScale, label: figure.x.label},
      y: {
        ...rows.scale({room: left - 14}), domain: [rows.names.length - 0.9, 0.1 - overlap],
        label: null, tickSize: 0,
      },
    });
    const on = projection(chart);
    const spots = shown.flatMap(({one, baseline}) => one.points.map((point) =>
      on.dot(on.x(point.x), on.y(above(baseline, point.y)), spotText(figure, one, point))))
      .filter(inside);
    return {chart, spots};
  };
  return {swatch: "line", narrowest: 420, widest: figure.panels.length > 1 ? 620 : 860, panel};
}
