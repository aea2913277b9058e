// Markers at points and in legends, in the order in which figures number them.
import {path, symbolCircle, symbolCross, symbolDiamond, symbolSquare, symbolStar, symbolTriangle} from "d3";

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
