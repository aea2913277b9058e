// Markers at points and in legends; stripes and dots that lie over a colour.
import {path, symbolCircle, symbolCross, symbolDiamond, symbolSquare, symbolStar, symbolTriangle} from "d3";
import {html, svg} from "./elements.js";

// Markers, in the order in which figures number them.
/// Of `size` square pixels, as d3's symbols are: a triangle that stands on its tip.
const triangleDown = {
  draw(context, size) {
    const height = Math.sqrt(size / (3 * Math.sqrt(3)));
    context.moveTo(0, height * 2);
    context.lineTo(-Math.sqrt(3) * height, -height);
    context.lineTo(Math.sqrt(3) * height, -height);
    context.closePath();
  },
};

export const markers = [
  symbolCircle, symbolSquare, symbolTriangle, symbolDiamond, triangleDown, symbolCross, symbolStar,
];

/// SVG path data of `area` square pixels around the origin.
export function markerPath(marker, area) {
  const outline = path();
  marker.draw(outline, area);
  return outline.toString();
}

// Patterns. They stand once in the page, and pictures refer to them.
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
