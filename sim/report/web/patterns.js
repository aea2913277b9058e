// Stripes and dots that lie over a colour. They stand once in the page, and pictures refer to them.
import {html, svg} from "./elements.js";

/// Pattern 0 is none; the others are those of static pictures.
export const patternCount = 4;

export const patternFill = (pattern) => `url(#gradcast-pattern-${pattern})`;
export const hatchFill = "url(#gradcast-hatch)";

function pattern(id, turn, shape) {
  return svg("pattern", {
    id, width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: `rotate(${turn})`,
  }, shape);
}

const stripe = () => svg("path", {
  d: "M0 3H6", stroke: "#fff", "stroke-opacity": 0.5, "stroke-width": 1.6,
});

export function addPatterns() {
  const dots = svg("circle", {cx: 3, cy: 3, r: 1.2, fill: "#fff", "fill-opacity": 0.6});
  const hatch = svg("path", {
    d: "M0 3H6", stroke: "var(--ink-soft)", "stroke-opacity": 0.5, "stroke-width": 1,
  });
  const drawing = svg("svg", {width: 0, height: 0, "aria-hidden": "true"}, svg("defs", {},
    pattern("gradcast-pattern-1", 45, stripe()), pattern("gradcast-pattern-2", 0, dots),
    pattern("gradcast-pattern-3", -45, stripe()), pattern("gradcast-hatch", -45, hatch)));
  // Not display: none, which would take the patterns away with it.
  document.body.append(html("div", {class: "patterns"}, drawing));
}
