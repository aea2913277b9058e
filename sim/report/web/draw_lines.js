// y over x: a line a series, with bars where the forecast says how far it may be off; a long series has
// a band. Series with bars stand a little to the side of each other, so that no bar hides another.
import {areaY, dot, line, ruleX, ruleY, text} from "@observablehq/plot";
import {draw, gridAcross, gridAlong, inside, isNumber, projection, spotText} from "./chart.js";
import {CategoryAxis, numberAxis, pointsOf} from "./scales.js";

const mostMarkers = 40;  // of a series: more would be a thick line
const mostBarred = 12;   // points with a bar each
const besidePixels = 5;

const isRanged = ({low, high}) => isNumber(low) && isNumber(high);
const isBarred = ({points}) => points.length <= mostBarred && points.some(isRanged);

export function drawLines(figure, palette, hidden) {
  const byName = figure.x.scale === "category";
  const x = byName ? new CategoryAxis(figure.x, pointsOf(figure).map((point) => point.x_text))
    : numberAxis(figure, "x");
  const y = numberAxis(figure, "y", {fromZero: true, also: ["low", "high"]});
  const at = (point) => x.place(byName ? point.x_text : point.x);

  const panel = ({series}, width) => {
    const height = Math.round(Math.max(230, Math.min(400, width * 0.62)));
    const margins = {top: 26, right: 18, bottom: 42, left: 56};
    const across = width - margins.left - margins.right;
    const xScale = byName ? x.scale({room: across / x.names.length}) : x.scale(across, 46);
    const yScale = y.scale(height - margins.top - margins.bottom, 32);
    const marks = [gridAcross(xScale), gridAlong(yScale)];
    if (!y.log) marks.push(ruleY([0], {stroke: "var(--ink-soft)"}));
    const barred = series.filter(isBarred);
    const shown = series.filter(({name}) => !hidden.has(name)).map((one) => ({
      ...one, look: palette.look(figure, one), barred: isBarred(one),
      dx: isBarred(one) ? besidePixels * (barred.indexOf(one) - (barred.length - 1) / 2) : 0,
      points: one.points.map((point) => ({...point, at: at(point), y: y.place(point.y)})),
    }));
    for (const {points, look, dx, barred: bars} of shown) {
      const ranged = points.filter(isRanged);
      const range = {x: "at", y1: ({low}) => y.place(low), y2: ({high}) => y.place(high), dx};
      if (bars || ranged.length < 2) {
        marks.push(ruleX(ranged, {...range, stroke: look.colour, strokeWidth: 1.6, strokeOpacity: 0.6}));
      } else {
        marks.push(areaY(ranged, {...range, fill: look.colour, fillOpacity: 0.15}));
      }
    }
    for (const {points, look, reference, dx} of shown) {
      marks.push(line(points, {
        x: "at", y: "y", stroke: look.colour, strokeDasharray: look.dash, dx,
        strokeWidth: reference ? 1.5 : 2,
      }));
      if (!reference && points.length <= mostMarkers) {
        marks.push(dot(points, {
          x: "at", y: "y", symbol: look.symbol, fill: look.colour, stroke: "var(--paper)", r: 4.5, dx,
        }));
      }
    }
    for (const {points, look, dx} of shown) {
      const named = points.filter((point) => point.text);
      marks.push(text(named, {
        x: "at", y: "y", text: "text", dx, dy: -11, fontSize: 11, fill: look.colour,
        stroke: "var(--paper)", strokeWidth: 3,
      }));
    }
    const chart = draw({
      width, height, margins, marks,
      x: {...xScale, label: figure.x.label}, y: {...yScale, label: figure.y.label},
    });
    const on = projection(chart);
    const spots = shown.flatMap((one) => one.points.map((point) =>
      on.dot(on.x(point.at) + one.dx, on.y(point.y), spotText(figure, one, point)))).filter(inside);
    return {chart, spots};
  };
  return {swatch: "line", narrowest: 330, widest: figure.panels.length > 1 ? 620 : 860, panel};
}
