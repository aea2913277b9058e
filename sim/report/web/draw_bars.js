// A bar a category: parts upon each other, or series side by side. Bars stand where the categories' names
// have room below them; they lie where names have no room, and where bars would be as broad as doors. A
// reference is a line across its categories.
import {rect, ruleX, ruleY, text} from "@observablehq/plot";
import {draw, gridAcross, gridAlong, inside, isNumber, projection, spotText} from "./chart.js";
import {numberText} from "./numbers.js";
import {patternFill} from "./marks.js";
import {CategoryAxis, numberAxis, pointsIn} from "./scales.js";

const barShare = 0.76;  // of a category's width; the rest is air
const broadest = 220;   // pixels of an upright category

/// Whether each category has the bar of one series.
function eachAlone(series) {
  const names = series.flatMap(({points}) => points.map((point) => point.x_text));
  return new Set(names).size === names.length;
}

/// Each bar: its series and point, `a` to `b` across the bar, `from` to `to` along it. A reference's
/// are lines: from nowhere, as wide as the category.
function barsOf(figure, series, categories) {
  const bars = [];
  const beside = series.filter(({reference}) => !reference);
  const alone = eachAlone(beside);
  const ends = new Map();  // of a category: how far its stack reaches, up and down
  for (const one of series) {
    for (const point of one.points) {
      const middle = categories.place(point.x_text);
      if (!isNumber(point.y) || Number.isNaN(middle)) continue;
      const bar = {one, point, a: middle - barShare / 2, b: middle + barShare / 2,
                   from: 0, to: point.y};
      if (one.reference) {
        [bar.a, bar.b, bar.from] = [middle - 0.48, middle + 0.48, point.y];
      } else if (figure.stacked) {
        const key = `${middle} ${point.y < 0}`;
        bar.from = ends.get(key) ?? 0;
        bar.to = bar.from + point.y;
        ends.set(key, bar.to);
      } else {
        const each = alone ? barShare : barShare / beside.length;
        if (!alone) bar.a += beside.indexOf(one) * each;
        bar.b = bar.a + each * 0.94;
      }
      bars.push(bar);
    }
  }
  return bars;
}

/// Numbers at the ends of bars: a stack's total, or each bar's number.
function endsOf(figure, bars) {
  const solid = bars.filter(({one}) => !one.reference);
  if (!figure.stacked) {
    return solid.map(({a, b, to, point}) =>
      ({at: (a + b) / 2, to: Math.max(to, point.high ?? to), value: to}));
  }
  const totals = new Map();
  for (const {a, b, to} of solid) {
    const at = (a + b) / 2;
    if (to >= (totals.get(at)?.to ?? 0)) totals.set(at, {at, to, value: to});
  }
  return [...totals.values()];
}

export function drawBars(figure, palette, hidden) {
  // Each panel has its own categories, and all panels' bars stand or all lie.
  const categoriesIn = (panel) =>
    new CategoryAxis(figure.x, pointsIn(panel).map((point) => point.x_text));
  const all = figure.panels.map(categoriesIn);
  const longest = all.reduce((most, {pixels}) => Math.max(most, pixels), 0);
  // The axis is of all panels and all series, hidden ones too: it stays while names go in and out.
  const value = numberAxis(figure, "y", {fromZero: true, also: ["low", "high"]});
  if (value.log) throw new Error("bars need a linear scale");
  for (const one of figure.panels) {
    for (const {to} of barsOf(figure, one.series, categoriesIn(one))) {
      value.low = Math.min(value.low, to);
      value.high = Math.max(value.high, to);
    }
  }

  const panel = (shown, width) => {
    const {series} = shown;
    const categories = categoriesIn(shown);
    const visible = series.filter(({name}) => !hidden.has(name));
    const bars = barsOf(figure, visible, categories)
      .map((bar) => ({...bar, look: palette.look(figure, bar.one)}));
    const count = categories.names.length;
    const solidOnes = visible.filter(({reference}) => !reference);
    const each = eachAlone(solidOnes) ? 1 : Math.max(1, solidOnes.length);
    const roomFor = ({names}) => (width - 56 - 12) / names.length;
    const upright = all.every((one) => one.pixels < roomFor(one) - 6 && roomFor(one) < broadest);
    const uprightRoom = roomFor(categories);
    // Across and along, as x and y or as y and x.
    const [c, v] = upright ? ["x", "y"] : ["y", "x"];
    const corners = {[`${c}1`]: "a", [`${c}2`]: "b", [`${v}1`]: "from", [`${v}2`]: "to"};
    const [interval, line] = upright ? [ruleX, ruleY] : [ruleY, ruleX];

    const left = upright ? 56 : Math.min(longest + 16, Math.floor(width * 0.42));
    const margins = {top: upright ? 26 : 8, right: upright ? 12 : 44, bottom: 42, left};
    const height = upright ? Math.round(Math.max(230, Math.min(380, width * 0.55)))
      : margins.top + margins.bottom + count * (figure.stacked ? 28 : Math.max(width < 480 ? 18 : 28, 13 * each + 7));
    const along = upright ? height - margins.top - margins.bottom : width - left - margins.right;
    const values = value.scale(along, upright ? 32 : 60);
    const solid = bars.filter(({one}) => !one.reference);
    const ranged = solid.filter(({point}) => isNumber(point.low) && isNumber(point.high));
    const ends = endsOf(figure, bars);
    const pixelsEach = figure.stacked ? uprightRoom : (uprightRoom * barShare) / each;
    const marks = [
      upright ? gridAlong(values) : gridAcross(values),
      rect(solid, {...corners, fill: ({look}) => look.colour, stroke: "var(--paper)",
                   strokeWidth: 0.75}),
      rect(solid.filter(({look}) => look.pattern),
           {...corners, fill: ({look}) => patternFill(look.pattern)}),
      interval(ranged, {
        [c]: ({a, b}) => (a + b) / 2, [`${v}1`]: ({point}) => point.low,
        [`${v}2`]: ({point}) => point.high, stroke: "var(--ink)",
      }),
      line(bars.filter(({one}) => one.reference), {
        [v]: "to", [`${c}1`]: "a", [`${c}2`]: "b", stroke: "var(--ink-soft)",
        strokeDasharray: "3 4", strokeWidth: 1.5,
      }),
      line([0], {stroke: "var(--ink-soft)"}),
    ];
    if (!upright || pixelsEach > 34) {
      marks.push(text(ends.filter(({to}) => to >= 0), {
        [c]: "at", [v]: "to", text: ({value: shown}) => numberText(Number(shown.toPrecision(3))),
        fill: "var(--ink-soft)", fontSize: 11,
        ...(upright ? {dy: -7} : {dx: 5, textAnchor: "start"}),
      }));
    }
    const names = upright ? {...categories.scale(), label: figure.x.label, tickSize: 0}
      : {...categories.scale({downwards: true, room: left - 16}), label: null, tickSize: 0};
    const numbers = {...values, label: figure.y.label};
    const chart = draw({
      width, height, margins, marks, x: upright ? names : numbers, y: upright ? numbers : names,
    });
    const on = projection(chart);
    const spots = bars.map(({one, point, a, b, from, to}) => {
      const words = spotText(figure, one, point);
      return upright ? on.box(a, b, from, to, words) : on.box(from, to, a, b, words);
    }).filter(inside);
    return {chart, spots};
  };
  return {swatch: "area", narrowest: 340, widest: figure.panels.length > 1 ? 620 : 860, panel};
}
