// A cell a pair of categories: coloured as the winner, with its lead as text. Where it cannot be told
// which is faster, the cell is pale and hatched.
import {rect, text} from "@observablehq/plot";
import {draw, inside, projection, spotText} from "./chart.js";
import {inkOn} from "./palette.js";
import {hatchFill} from "./marks.js";
import {CategoryAxis, pointsIn, pointsOf, textPixels} from "./scales.js";

const gap = 0.03;  // of a cell, on each side
const rowPixels = 32;  // two lines of text

export function drawMap(figure, palette, hidden) {
  // Each panel has its own categories; the room for their names is the same.
  const axes = (points) => [new CategoryAxis(figure.x, points.map((point) => point.x_text)),
                            new CategoryAxis(figure.y, points.map((point) => point.y_text))];
  const [across, along] = axes(pointsOf(figure));
  if (across.names.length === 0) throw new Error("nothing to draw");

  const panel = (shown, width) => {
    const {series} = shown;
    const [x, y] = axes(pointsIn(shown));
    const left = Math.min(along.pixels + 34, Math.floor(width * 0.36));
    const margins = {top: 26, right: 8, bottom: 44, left};
    const cellWidth = (width - left - margins.right) / x.names.length;
    const height = margins.top + margins.bottom + rowPixels * y.names.length;
    const cells = series.filter(({name}) => !hidden.has(name)).flatMap((one) => {
      const {colour} = palette.look(figure, one);
      return one.points.map((point) => {
        const [column, row] = [x.place(point.x_text), y.place(point.y_text)];
        return {
          one, point, colour, x1: column - 0.5 + gap, x2: column + 0.5 - gap,
          y1: row - 0.5 + gap, y2: row + 0.5 - gap, column, row,
        };
      });
    });
    const corners = {x1: "x1", x2: "x2", y1: "y1", y2: "y2"};
    const sure = cells.filter(({point}) => !point.muted);
    const muted = cells.filter(({point}) => point.muted);
    // The winner's name too where it has room: colours alone are not for everybody.
    const fits = (words) => words !== "" && textPixels(words) * 0.92 < cellWidth - 6;
    const words = ({one, point}) => [one.name, point.text ?? ""].filter(fits).join("\n");
    const written = (some, options) => text(some, {
      x: "column", y: "row", text: words, fontSize: 11, lineHeight: 1.25, ...options,
    });
    const chart = draw({
      width, height, margins,
      marks: [
        rect(sure, {...corners, fill: ({colour}) => colour, rx: 2}),
        rect(muted, {...corners, fill: ({colour}) => colour, fillOpacity: 0.3, rx: 2}),
        rect(muted, {...corners, fill: hatchFill, rx: 2}),
        written(sure, {fill: ({colour}) => inkOn(colour)}),
        written(muted, {
          fill: "var(--ink)", stroke: "var(--paper)", strokeWidth: 3, strokeOpacity: 0.7,
        }),
      ],
      x: {...x.scale({room: cellWidth - 2}), label: figure.x.label, tickSize: 0},
      y: {...y.scale({room: left - 20}), label: figure.y.label, tickSize: 0},
    });
    const on = projection(chart);
    const spots = cells.map(({one, point, x1, x2, y1, y2}) =>
      on.box(x1, x2, y1, y2, spotText(figure, one, point))).filter(inside);
    return {chart, spots};
  };
  return {
    swatch: "area", narrowest: 330,
    widest: Math.max(330, Math.min(figure.panels.length > 1 ? 620 : 860,
                                   along.pixels + 60 + 110 * across.names.length)),
    panel,
  };
}
