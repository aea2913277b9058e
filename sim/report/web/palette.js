// The look of a name in every picture of the page: its colour, and a marker, a dash and a pattern as a
// second channel beside the colour. Figures may bring markers and patterns of their own, by number, as
// their static pictures have them; else they come from a name's place among all names.
import {markers, patternCount} from "./marks.js";

const dashes = [null, "7 3", "2 3", "9 3 2 3", "12 4", "5 2 2 2 2 2"];

/// A name may be "constructor", so no plain object is asked for it.
const entry = (object, name) =>
  object && Object.prototype.hasOwnProperty.call(object, name) ? object[name] : undefined;

export class Palette {
  #places = new Map();

  constructor(figures) {
    for (const figure of figures) {
      for (const panel of figure?.panels ?? []) {
        for (const series of panel?.series ?? []) {
          if (!series.reference && !this.#places.has(series.name)) {
            this.#places.set(series.name, this.#places.size);
          }
        }
      }
    }
  }

  look(figure, series) {
    const place = this.#places.get(series.name) ?? 0;
    const marker = entry(figure.marks, series.name) ?? place;
    const pattern = entry(figure.patterns, series.name) ?? 0;
    return {
      colour: entry(figure.colors, series.name) ??
        (series.reference ? "var(--ink-soft)" : "var(--accent)"),
      symbol: markers[marker % markers.length],
      dash: series.reference ? "3 4" : dashes[place % dashes.length],
      pattern: pattern % patternCount,
    };
  }
}

/// Black or white: what reads better on a "#rrggbb".
export function inkOn(colour) {
  const channels = /^#(..)(..)(..)$/.exec(colour);
  if (!channels) return "var(--ink)";
  const [r, g, b] = channels.slice(1).map((digits) => {
    const value = parseInt(digits, 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  const luminance = 0.2126 * r + 0.7152 * g + 0.0722 * b;
  // Contrast with white is 1.05 / (l + .05), with black (l + .05) / .05: equal at l = .179.
  return luminance > 0.179 ? "#000" : "#fff";
}
