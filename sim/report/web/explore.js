// A box beside the pointer says what is under it; the arrow keys go from point to point with the same
// box, and a screen reader is told its text. Pictures have a list of spots: where each datum lies, in
// the picture's own pixels, and its text.
import {html, svg} from "./elements.js";

const reachPixels = 30;

function distance(spot, x, y) {
  const dx = Math.max(spot.left - x, 0, x - spot.right);
  const dy = Math.max(spot.top - y, 0, y - spot.bottom);
  return Math.hypot(dx, dy);
}

function nearest(spots, x, y) {
  let best = null;
  let least = reachPixels;
  for (const spot of spots) {
    const away = distance(spot, x, y);
    if (away < least) [best, least] = [spot, away];
  }
  return best;
}

/// Charts are {chart: svg element, spots}; `grid` holds them all.
export function makeExplorable(grid, charts, title) {
  const all = charts.flatMap(({chart, spots}) => spots.map((spot) => ({...spot, chart})));
  if (all.length === 0) return;
  const box = html("div", {class: "tip", "aria-hidden": "true"});
  const spoken = html("output", {class: "spoken"});
  let outline = null;
  let at = -1;
  box.hidden = true;

  const hide = () => {
    box.hidden = true;
    outline?.remove();
    outline = null;
  };

  // A chart may be shown smaller than it was drawn.
  const shrinkage = (chart) =>
    chart.getBoundingClientRect().width / (chart.viewBox.baseVal.width || 1) || 1;

  const show = (spot) => {
    outline?.remove();
    outline = svg("rect", {
      class: "here", x: spot.left - 3, y: spot.top - 3, rx: 3,
      width: spot.right - spot.left + 6, height: spot.bottom - spot.top + 6,
    });
    spot.chart.append(outline);
    box.textContent = spot.text;
    box.hidden = false;
    const outer = grid.getBoundingClientRect();
    const inner = spot.chart.getBoundingClientRect();
    const ratio = shrinkage(spot.chart);
    const middle = inner.left - outer.left + (ratio * (spot.left + spot.right)) / 2;
    const top = inner.top - outer.top + ratio * spot.top;
    const bottom = inner.top - outer.top + ratio * spot.bottom;
    const left = Math.max(0, Math.min(outer.width - box.offsetWidth, middle - box.offsetWidth / 2));
    const above = top - box.offsetHeight - 10;
    const enough = inner.top + ratio * spot.top - box.offsetHeight - 10 > 0;
    box.style.transform =
      `translate(${Math.round(left)}px, ${Math.round(enough ? above : bottom + 10)}px)`;
  };

  for (const {chart, spots} of charts) {
    const follow = (event) => {
      const frame = chart.getBoundingClientRect();
      const ratio = shrinkage(chart);
      const found = nearest(spots, (event.clientX - frame.left) / ratio,
                            (event.clientY - frame.top) / ratio);
      if (found) show({...found, chart});
      else hide();
    };
    chart.addEventListener("pointermove", follow);
    chart.addEventListener("pointerdown", follow);
    chart.addEventListener("pointerleave", hide);
  }

  grid.tabIndex = 0;
  grid.dataset.key = " points";  // begins with a blank: no series' name is in the way
  grid.setAttribute("role", "group");
  grid.setAttribute("aria-label", `${title}: ${all.length} points, arrow keys go through them`);
  const steps = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, PageDown: 10, PageUp: -10};
  grid.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || event.target !== grid) return;
    if (event.key === "Escape") return hide();
    const last = all.length - 1;
    if (event.key === "Home") at = 0;
    else if (event.key === "End") at = last;
    else if (!(event.key in steps)) return;
    else if (at < 0) at = steps[event.key] > 0 ? 0 : last;
    else at = Math.max(0, Math.min(last, at + steps[event.key]));
    event.preventDefault();
    show(all[at]);
    spoken.textContent = all[at].text;
  });
  grid.addEventListener("blur", hide);
  grid.append(box, spoken);
}
