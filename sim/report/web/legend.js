// The legend: colour, marker and dash of each name. A press takes a name out of the picture and back in.
import {html, svg} from "./elements.js";
import {hatchFill, markerPath, patternFill} from "./marks.js";

const picture = (...shapes) =>
  svg("svg", {class: "swatch", width: 28, height: 14, "aria-hidden": "true"}, ...shapes);
const block = (fill, more = {}) => svg("rect", {x: 7, y: 0, width: 14, height: 14, rx: 2, fill, ...more});
const stroke = (look, width) => svg("line", {
  x1: 0, x2: 28, y1: 7, y2: 7, stroke: look.colour, "stroke-width": width, "stroke-dasharray": look.dash,
});

function swatchOf(kind, series, look) {
  if (series.reference) return picture(stroke(look, 1.5));
  if (kind === "area") {
    return picture(block(look.colour), ...(look.pattern ? [block(patternFill(look.pattern))] : []));
  }
  const marker = svg("path", {
    d: markerPath(look.symbol, 64), transform: "translate(14,7)", fill: look.colour,
    stroke: "var(--paper)",
  });
  return kind === "line" ? picture(stroke(look, 2), marker) : picture(marker);
}

/// Notes beside the names.
function notesOf({guides = [], kind, panels}) {
  const notes = [];
  if (kind === "map" && panels.some(({series}) =>
    series.some(({points}) => points.some(({muted}) => muted)))) {
    notes.push(html("li", {class: "note"},
      picture(block("var(--rule)"), block(hatchFill)), "which is faster cannot be told"));
  }
  if (kind === "scatter" && guides.length > 0) {
    const line = svg("line", {
      x1: 0, x2: 28, y1: 7, y2: 7, stroke: "var(--ink-soft)", "stroke-dasharray": "2 4",
    });
    notes.push(html("li", {class: "note"}, picture(line),
                    `off by ${guides.map((percent) => `${percent} %`).join(" and ")}`));
  }
  return notes;
}

/// None for a picture of a single name: its axis says what it is.
export function legendOf(figure, palette, kind, hidden, toggle) {
  const shown = new Map();
  for (const {series} of figure.panels) {
    for (const one of series) {
      // Ridges have their names beside them.
      if (figure.kind === "ridges" && !one.reference) continue;
      if (!shown.has(one.name)) shown.set(one.name, one);
    }
  }
  const notes = notesOf(figure);
  const fewest = figure.kind === "ridges" ? 1 : 2;
  if (shown.size < fewest && notes.length === 0) return null;
  const list = html("ul", {class: "legend", "aria-label": "Legend"});
  for (const series of shown.values()) {
    const button = html("button", {
      type: "button", "aria-pressed": String(!hidden.has(series.name)), "data-key": series.name,
    }, swatchOf(kind, series, palette.look(figure, series)), series.name);
    button.addEventListener("click", () => toggle(series.name));
    list.append(html("li", {}, button));
  }
  list.append(...notes);
  return list;
}
