// Work over time: a lane a resource, a slice a piece of work.
import {rect, text} from "@observablehq/plot";
import {draw, gridAcross, inside, isNumber, projection, spotText} from "./chart.js";
import {inkOn} from "./palette.js";
import {CategoryAxis, numberAxis, pointsIn, pointsOf, textPixels} from "./scales.js";
import {patternFill} from "./marks.js";
import {numberText} from "./numbers.js";

const lanePixels = 34;

export function drawLanes(figure, palette, hidden) {
  const all = pointsOf(figure).filter(({x, until}) => isNumber(x) && isNumber(until));
  const lanesOf = (points) => new CategoryAxis(figure.y, points.map((point) => point.y_text));
  const begin = all.reduce((least, {x}) => Math.min(least, x), 0);
  const end = all.reduce((most, {until}) => Math.max(most, until), begin);
  if (end <= begin) throw new Error("nothing to draw");
  const axis = numberAxis(figure, "x", {fromZero: true, also: ["until"]});

  const panel = (shown, width) => {
    const {series} = shown;
    const lanes = lanesOf(pointsIn(shown));
    const left = Math.min(lanesOf(all).pixels + 16, Math.floor(width * 0.3));
    const margins = {top: 8, right: 18, bottom: 42, left};
    const height = margins.top + margins.bottom + lanePixels * lanes.names.length;
    const across = width - left - margins.right;
    const slices = series.filter(({name}) => !hidden.has(name)).flatMap((one) => {
      const {colour, pattern} = palette.look(figure, one);
      return one.points.filter(({x, until}) => isNumber(x) && isNumber(until)).map((point) => {
        const lane = lanes.place(point.y_text);
        return {one, point, colour, pattern, lane, from: point.x, to: point.until,
                top: lane - 0.4, bottom: lane + 0.4};
      });
    });
    const time = axis.log ? axis.scale(across, 60)
      : {domain: [begin, end], tickFormat: numberText,
         ticks: Math.max(2, Math.min(10, Math.floor(across / 60)))};
    const along = axis.log ? Math.log : (value) => value;
    const whole = along(time.domain[1]) - along(time.domain[0]);
    const pixels = ({from, to}) => ((along(to) - along(from)) / whole) * across;
    // A rim would hide a slice of a pixel or two.
    const wide = slices.filter((slice) => pixels(slice) >= 4);
    const thin = slices.filter((slice) => pixels(slice) < 4);
    const edges = {x1: "from", x2: "to", y1: "top", y2: "bottom", fill: ({colour}) => colour};
    const chart = draw({
      width, height, margins,
      marks: [
        gridAcross(time),
        rect(wide, {...edges, stroke: "var(--paper)", strokeWidth: 0.75}),
        rect(thin, edges),
        rect(wide.filter((slice) => slice.pattern),
             {...edges, fill: ({pattern}) => patternFill(pattern)}),
        text(wide.filter((s) => s.point.text && textPixels(s.point.text) < pixels(s) - 6), {
          x: ({from, to}) => (axis.log ? Math.sqrt(from * to) : (from + to) / 2), y: "lane",
          text: ({point}) => point.text, fill: ({colour}) => inkOn(colour), fontSize: 11,
        }),
      ],
      x: {...time, label: figure.x.label},
      y: {...lanes.scale({downwards: true, room: left - 14}), label: null, tickSize: 0},
    });
    const on = projection(chart);
    const spots = slices.map(({one, point, from, to, top, bottom}) =>
      on.box(from, to, top, bottom, spotText(figure, one, point))).filter(inside);
    return {chart, spots};
  };
  // Time needs the whole width.
  return {swatch: "area", narrowest: 600, widest: 1200, panel};
}
