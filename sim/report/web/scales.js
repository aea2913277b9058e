// Axes. Panels of a figure share them, so that they can be compared by eye. A category stands at a
// whole number, and its cell reaches from half below to half above.
import {bytesText, numberText} from "./numbers.js";

const fontPixels = 12;
const pixelsPerCharacter = 6.6;  // of 12 px system fonts, on the wide side

export const textPixels = (text) => [...text].length * pixelsPerCharacter * (fontPixels / 12);

export function shortened(text, pixels) {
  const characters = [...text];
  const most = Math.max(2, Math.floor(pixels / pixelsPerCharacter + 1e-6));
  return characters.length <= most ? text : characters.slice(0, most - 1).join("") + "…";
}

const logarithmic = (scale) => ["log2", "log10", "bytes"].includes(scale);
const present = (value) => typeof value === "number" && Number.isFinite(value);

/// Ticks, as many of each decade as there is room for.
function log10Ticks(low, high, most) {
  const fewerAndFewer = [[1, 1.5, 2, 3, 5, 7], [1, 2, 5], [1, 3], [1]];
  for (const factors of fewerAndFewer) {
    const ticks = ticksOfDecades(low, high, factors);
    if (ticks.length <= most) return ticks;
  }
  return thinned(ticksOfDecades(low, high, [1]), most);
}

function ticksOfDecades(low, high, factors) {
  const ticks = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); ++power) {
    for (const factor of factors) {
      const value = Number(`${factor}e${power}`);
      if (value >= low * (1 - 1e-9) && value <= high * (1 + 1e-9)) ticks.push(value);
    }
  }
  return ticks;
}

function log2Ticks(low, high, most) {
  const ticks = [];
  for (let power = Math.ceil(Math.log2(low) - 1e-9); 2 ** power <= high * (1 + 1e-9); ++power) {
    ticks.push(2 ** power);
  }
  return thinned(ticks, most);
}

/// Every n-th, so that there are no more than `most`.
function thinned(ticks, most) {
  const every = Math.max(1, Math.ceil(ticks.length / most));
  return ticks.filter((_, i) => i % every === 0);
}

class NumberAxis {
  constructor(spec, values, fromZero) {
    this.label = spec.label;
    this.log = logarithmic(spec.scale);
    this.base = spec.scale === "log10" ? 10 : 2;
    this.text = spec.scale === "bytes" ? bytesText : numberText;
    const shown = values.filter((value) => this.shows(value));
    if (shown.length === 0) throw new Error("nothing to draw");
    // No spread of thousands of arguments: sweeps have many points.
    this.low = shown.reduce((a, b) => Math.min(a, b));
    this.high = shown.reduce((a, b) => Math.max(a, b));
    if (!this.log && fromZero) {
      this.low = Math.min(0, this.low);
      this.high = Math.max(0, this.high);
    }
    if (this.low === this.high) {
      if (this.log) [this.low, this.high] = [this.low / 2, this.high * 2];
      else [this.low, this.high] = [this.low - 1, this.high + 1];
    }
  }

  shows(value) {
    return present(value) && (!this.log || value > 0);
  }

  place(value) {
    return this.shows(value) ? value : NaN;
  }

  /// Widened by a little where it is logarithmic, to whole ticks by Plot where it is not.
  scale(pixels, pixelsEach) {
    const most = Math.max(2, Math.floor(pixels / pixelsEach));
    if (!this.log) {
      const ticks = Math.min(8, most);
      // A little more than the data, however few ticks there is room for.
      const nice = Math.max(5, ticks);
      return {domain: [this.low, this.high], nice, ticks, tickFormat: numberText};
    }
    const margin = (this.high / this.low) ** 0.03;
    const low = this.low / margin;
    const high = this.high * margin;
    const ticks = (this.base === 2 ? log2Ticks : log10Ticks)(low, high, most);
    return {type: "log", base: this.base, domain: [low, high], ticks, tickFormat: this.text};
  }
}

export class CategoryAxis {
  #places = new Map();

  /// Categories are in the order of `listed`, then of first sight.
  constructor({label, categories: listed = []}, texts) {
    const present = new Set(texts);
    this.label = label;
    for (const text of [...listed.filter((one) => present.has(one)), ...present]) {
      if (!this.#places.has(text)) this.#places.set(text, this.#places.size);
    }
    this.names = [...this.#places.keys()];
  }

  place(text) {
    return this.#places.get(text) ?? NaN;
  }

  /// The longest name's length on paper.
  get pixels() {
    return this.names.reduce((most, name) => Math.max(most, textPixels(name)), 0);
  }

  /// Domain from half a cell before the first to half a cell after the last.
  scale({downwards = false, room = Infinity} = {}) {
    const ends = [-0.5, this.names.length - 0.5];
    return {
      type: "linear", domain: downwards ? ends.reverse() : ends,
      ticks: this.names.map((_, i) => i), tickFormat: (i) => shortened(this.names[i] ?? "", room),
    };
  }
}

export function pointsOf(figure) {
  return figure.panels.flatMap(pointsIn);
}

export function pointsIn(panel) {
  return panel.series.flatMap((series) => series.points);
}

/// The axis of all panels' points. `also`: further keys of a point, such as the ends of bands.
export function numberAxis(figure, letter, {fromZero = false, also = []} = {}) {
  const values = pointsOf(figure).flatMap((point) => [point[letter], ...also.map((k) => point[k])]);
  return new NumberAxis(figure[letter], values, fromZero);
}
