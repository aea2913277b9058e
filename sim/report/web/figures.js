// Replaces each static picture by one that answers a pointer and the arrow keys and fits the window.
// Where that fails the static picture stays: a page never loses what it had.
import {html} from "./elements.js";
import {Palette} from "./palette.js";
import {legendOf} from "./legend.js";
import {makeExplorable} from "./explore.js";
import {drawLines} from "./draw_lines.js";
import {drawBars} from "./draw_bars.js";
import {drawScatter} from "./draw_scatter.js";
import {drawMap} from "./draw_map.js";
import {drawLanes} from "./draw_lanes.js";
import {drawRidges} from "./draw_ridges.js";

// Each takes (figure, palette, hidden names) and gives {swatch, narrowest, widest, panel}: the legend's
// kind of swatch, how wide a panel may be, and panel(panel, width), which gives {chart, spots}. A spot
// is what a pointer finds: {left, top, right, bottom} in the chart's pixels, and its text.
const kinds = new Map(Object.entries({
  lines: drawLines, bars: drawBars, scatter: drawScatter, map: drawMap, lanes: drawLanes,
  ridges: drawRidges,
}));
const gapPixels = 24;

function columnsFor(width, panels, narrowest) {
  return Math.max(1, Math.min(panels, 3, Math.floor((width + gapPixels) / (narrowest + gapPixels))));
}

class Picture {
  #hidden = new Set();
  #width = 0;

  constructor(place, figure, palette) {
    this.place = place;
    this.figure = figure;
    this.palette = palette;
    this.draw = kinds.get(figure.kind);
    if (!this.draw) throw new Error(`no kind of figure: ${figure.kind}`);
  }

  show() {
    const width = Math.floor(this.place.getBoundingClientRect().width);
    if (width === 0) return false;  // folded: drawn when it opens
    if (width < 40) throw new Error("no room");
    const drawing = this.#drawn(width);
    this.#width = width;
    const focused = this.place.contains(document.activeElement) && document.activeElement;
    const key = focused && focused.dataset.key;
    this.place.replaceChildren(drawing);
    // The element that had the focus is a new one now.
    if (key) {
      [...drawing.querySelectorAll("[data-key]"), drawing]
        .find((node) => node.dataset.key === key)?.focus();
    }
    return true;
  }

  /// Says whether it was drawn.
  showAgainIfResized() {
    const resized = Math.floor(this.place.getBoundingClientRect().width) !== this.#width;
    return resized && this.show();
  }

  #drawn(width) {
    const {figure} = this;
    const plan = this.draw(figure, this.palette, this.#hidden);
    const columns = columnsFor(width, figure.panels.length, plan.narrowest);
    const room = Math.floor((width - gapPixels * (columns - 1)) / columns);
    const panelWidth = Math.min(room, plan.widest);
    const grid = html("div", {class: "panels"});
    grid.style.gridTemplateColumns = `repeat(${columns}, minmax(0, ${panelWidth}px))`;
    const charts = figure.panels.map((panel, i) => {
      const {chart, spots} = plan.panel(panel, panelWidth, i);
      // One panel is the picture; of several, each has its title, and the caption has the summary.
      chart.setAttribute("role", "img");
      chart.setAttribute("aria-label", figure.panels.length > 1 ? panel.title : figure.summary);
      const frame = html("div", {class: "panel"});
      if (panel.title) frame.append(html("p", {class: "panel-title"}, panel.title));
      frame.append(chart);
      grid.append(frame);
      return {chart, spots};
    });
    const drawing = html("div", {class: "drawing"});
    const legend = legendOf(figure, this.palette, plan.swatch, this.#hidden, (name) => {
      if (!this.#hidden.delete(name)) this.#hidden.add(name);
      this.show();
    });
    if (legend) drawing.append(legend);
    drawing.append(grid);
    makeExplorable(grid, charts, figure.title);
    return drawing;
  }
}

export function showFigures() {
  const source = document.getElementById("gradcast-figures");
  if (!source) return;
  const figures = JSON.parse(source.textContent);
  const palette = new Palette(figures);
  const pictures = new Map();
  const attempt = (place, action) => {
    // The static picture is kept aside: it comes back when a later drawing fails.
    const before = [...place.childNodes];
    try {
      if (!action()) return;
      place.dataset.drawn = "interactive";
      // A static picture scrolls where the window is narrow, so it can have the focus; this one fits.
      for (const name of ["tabindex", "role", "aria-label"]) place.removeAttribute(name);
    } catch (problem) {
      place.replaceChildren(...before);
      place.dataset.drawn = "static";
      place.dataset.problem = problem.message;
    }
  };
  const watcher = new ResizeObserver((entries) => {
    for (const {target} of entries) {
      attempt(target, () => pictures.get(target).showAgainIfResized());
    }
  });
  for (const place of document.querySelectorAll(".plot[data-figure]")) {
    attempt(place, () => {
      const figure = figures.find((one) => one?.id === place.dataset.figure);
      if (!figure) throw new Error("no data");
      const picture = new Picture(place, figure, palette);
      pictures.set(place, picture);
      watcher.observe(place);
      return picture.show();
    });
  }
}
