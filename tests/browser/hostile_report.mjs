// A report whose names, numbers and figures are as bad as input can be, and all kinds of figures.
// usage: node hostile_report.mjs STYLE.css SCRIPT.js > report.html      SCRIPT.js may be empty
// A figure called "broken-..." cannot be drawn: its static picture must stay.
import {readFileSync} from "node:fs";

const [styleFile, scriptFile] = process.argv.slice(2);

const attack = `</script><script>document.title="run"</script><img src=x onerror="document.title='run'">`;
const quotes = `"'\`&amp;&lt;<b>\\\u2028\u202eright to left\u202c`;
const long = "a-name-without-a-single-blank-".repeat(12);
const names = ["dense", attack, quotes, long, "模型 🚀 naïve", "__proto__", "constructor"];
const palette = ["#787878", "#0072b2", "#56b4e9", "#e69f00", "#009e73", "#d55e00", "#cc79a7"];
const colors = JSON.parse(`{${names.map((name, i) => `${JSON.stringify(name)}:"${palette[i]}"`).join()}}`);

const markup = (text) => String(text).replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
const linear = (label) => ({label, scale: "linear"});
const category = (label) => ({label, scale: "category"});
const series = (one, points) => ({name: one, reference: false, points});

const workers = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];
const efficiency = (i, n) => 100 / (1 + 0.02 * (i + 1) * Math.log2(n) ** 1.3);
const linesPanel = (title, count) => ({
  title,
  series: [
    {name: "ideal", reference: true, points: workers.map((x) => ({x, y: 100}))},
    ...names.slice(0, count).map((name, i) => series(name, workers.map((x) => ({
      x, y: efficiency(i, x), low: efficiency(i, x) * 0.9, high: efficiency(i, x) * 1.06,
      label: `${name}\n${x} workers: ${efficiency(i, x).toFixed(1)} %`,
    })))),
  ],
});
const lines = {
  id: "lines-1", kind: "lines", title: "Scaling efficiency over workers",
  summary: "Efficiency falls with the workers; the bands are 90 % intervals.",
  x: {label: "workers", scale: "log2"}, y: linear("scaling efficiency (%)"),
  panels: [linesPanel("ResNet-50, batch 32", 5), linesPanel(attack, 7), linesPanel("VGG-16", 3)],
};
const gaps = {
  id: "lines-2", kind: "lines", title: "Lines with gaps, zeros and a single point",
  summary: "Nulls leave gaps; what a logarithmic axis cannot show is left out.",
  x: {label: "bandwidth (Gbps)", scale: "log10"}, y: {label: "iteration (s)", scale: "log10"},
  panels: [{title: "", series: [
    series("dense", [[1, 3], [2, null], [5, 0], [10, 0.3], [100, 0.05], [0, 1], [-5, 1]]
      .map(([x, y]) => ({x, y}))),
    series("single", [{x: 20, y: 0.2, low: 0.1, high: 0.4}]),
  ]}],
};

const named = {
  id: "lines-3", kind: "lines", title: "Lines over categories", marks: {dense: 6, constructor: 4},
  summary: "Categories stand in the order that the axis lists.",
  x: {...category("cluster"), categories: ["small", "absent", "large"]}, y: linear("samples per second"),
  panels: [{title: "", series: ["dense", "constructor"].map((name, i) => series(name,
    ["large", "small", "middling"].map((x_text, at) => ({x_text, y: 100 + 40 * i + 30 * at}))))}],
};

const parts = {forward: "#a9bfd6", backward: "#5f82a8", encode: "#b8973a",
  "exposed communication": "#b0405f", decode: "#e0cd86"};
const runs = ["dense, 4 workers", "dense, 16 workers", "topk, 4 workers", "topk, 16 workers", quotes, long];
const stacked = {
  id: "bars-1", kind: "bars", title: "Where an iteration's time goes", stacked: true, colors: parts,
  patterns: {encode: 1, "exposed communication": 2, decode: 3},
  summary: "Bars are iterations; what is not overlapped of communication grows with the workers.",
  x: category("set-up"), y: linear("seconds"),
  panels: [{title: "", series: Object.keys(parts).map((part, i) => series(part,
    runs.map((x_text, run) => ({x_text, y: 0.02 * (i + 1) * (1 + 0.3 * run) * (i === 4 ? 0.1 : 1)}))))}],
};
const beside = {
  id: "bars-2", kind: "bars", title: "Speedup, side by side",
  summary: "Bars side by side, with intervals, one of them below nought.",
  x: category("workers"), y: linear("speedup over dense"),
  panels: ["ResNet-50", "VGG-16"].map((title) => ({title, series: names.slice(0, 4).map((name, i) =>
    series(name, ["4", "8", "16", "32"].map((x_text, at) => {
      const y = i === 2 && at === 0 ? -0.2 : 0.8 + 0.15 * i * at;
      return {x_text, y, low: y - 0.1, high: y + 0.1};
    }))).concat({name: "roof", reference: true, points: [{x_text: "16", y: 2}, {x_text: "32", y: 2.3}]})})),
};

let state = 7;  // a small generator of its own, so that the page is the same each time
const random = () => (state = (state * 16807) % 2147483647) / 2147483647;
const scatter = {
  id: "scatter-1", kind: "scatter", title: "Forecast over measurement", guides: [5, 10],
  summary: "Most forecasts lie within 10 % of the measurement.",
  x: {label: "measured iteration (s)", scale: "log10"}, y: {label: "forecast iteration (s)", scale: "log10"},
  panels: [{title: "", series: names.slice(0, 5).map((name) => series(name,
    Array.from({length: 40}, () => {
      const x = 10 ** (random() * 2.5 - 1.5);
      const y = x * (1 + (random() - 0.5) * 0.3);
      return {x, y, low: y * 0.9, high: y * 1.1, label: `${name}\nmeasured ${x}, forecast ${y}`};
    })))}],
};

const bandwidths = ["1Gbps", "2Gbps", "5Gbps", "10Gbps", "25Gbps", "100Gbps"];
const mapPanel = (title) => {
  const cells = names.slice(0, 4).map((name) => series(name, []));
  bandwidths.forEach((y_text, row) => ["4", "8", "16", "32", "64"].forEach((x_text, column) => {
    const winner = Math.max(0, Math.min(3, Math.round(column / 1.4 - row / 2 + 1)));
    cells[winner].points.push({x_text, y_text, text: `${(2.2 - 0.2 * row + 0.1 * column).toFixed(2)}x`,
      muted: (row + 2 * column) % 5 === 0});
  }));
  return {title, series: cells.filter(({points}) => points.length)};
};
const map = {
  id: "map-1", kind: "map", title: "Who wins where", summary: "Compression wins on slow networks.",
  x: category("workers"), y: category("bandwidth of a node"),
  panels: [mapPanel("ResNet-50"), mapPanel(long)],
};

const phases = ["forward", "backward", "encode", "collective"];
const lanes = {
  id: "lanes-1", kind: "lanes", title: "One iteration", summary: "Communication ends after backward.",
  colors: {...parts, collective: "#b0405f"}, x: linear("milliseconds"), y: category("resource"),
  panels: [{title: "", series: phases.map((phase, i) => series(phase, Array.from({length: 60}, (_, at) => {
    const x = i === 0 ? at : 60 + at * 2 + 1.2 * (i - 1);
    return {x, until: x + [1, 1.2, 0.5, 1.9][i], y_text: ["compute", "compute", "codec", "network"][i],
      label: `${phase} of layer ${at}`, text: String(at)};
  })))}],
};

const bell = (x, wide) => 4 * Math.exp(-x * x / 2 / wide ** 2);
const places = Array.from({length: 9}, (_, i) => i - 4);
const ridgesPanel = (title, count) => ({
  title,
  series: [
    ...names.slice(0, count).map((name, i) =>
      series(name, places.map((x) => ({x, y: bell(x, 0.5 + 0.1 * i), label: `${name}: ${x}`})))),
    {name: "normal", reference: true, points: places.map((x) => ({x, y: bell(x, 1)}))},
  ],
});
const ridges = {
  id: "ridges-1", kind: "ridges", title: "Histograms of u", summary: "They are narrower than the normal.",
  x: linear("deviations from 0"), y: linear("% of the elements"),
  panels: [ridgesPanel("topk", 5), ridgesPanel(attack, 2)],
};

const broken = (id, change) => ({...lines, id: `broken-${id}`, title: `Broken: ${id}`, ...change});
const figures = [
  lines, gaps, named, stacked, beside, scatter, map, lanes, ridges,
  broken("kind", {kind: "pie"}),
  broken("proto", {kind: "__proto__"}),
  broken("panels", {panels: null}),
  broken("empty", {panels: [{title: "", series: []}]}),
  broken("numbers", {panels: [{title: "", series: [series("dense", [{x: "1", y: null}])]}]}),
].map((figure) => ({stacked: false, guides: [], colors, ...figure}));

const table = (head, rows, more = "") => `<table${more}><thead><tr>${
  head.map((one) => `<th scope="col">${markup(one)}</th>`).join("")}</tr></thead><tbody>${
  rows.map((row) => `<tr>${row.map((one) => `<td>${markup(one)}</td>`).join("")}</tr>`).join("\n")
}</tbody></table>`;
const details = (id, title, head, rows, more) => `<details class="data"><summary>Table: ${markup(title)} (${
  rows.length} rows)</summary><div class="scroll" tabindex="0" role="region" aria-label="Table: ${
  markup(title)}">${table(head, rows, more)}</div><a class="csv" download="${id}.csv" href="data:text/csv;charset=utf-8,${
  encodeURIComponent([head, ...rows].map((row) => row.join()).join("\r\n")).replace(/'/g, "%27")}">CSV</a></details>`;
const still = (figure) => `<svg role="img" aria-label="${markup(figure.summary)}" viewBox="0 0 600 120" width="600" height="120"><rect x="1" y="1" width="598" height="118" fill="none" stroke="var(--rule)"/><text x="20" y="60" font-size="14" fill="var(--ink)">static: ${
  markup(figure.title)}</text></svg>`;

const sections = figures.map((figure) => `<section id="${figure.id}"><h2>${markup(figure.title)}</h2>
<figure><div class="plot" data-figure="${figure.id}" tabindex="0" role="group" aria-label="${markup(figure.title)}">${still(figure)}</div><figcaption>${markup(figure.summary)}</figcaption></figure>
${details(figure.id, figure.title, ["name", "bandwidth", "time (s)"], names.map((name, i) =>
  [name, ["1Gbps", "100Mbps", "38.2Gbps", "", "10Gbps", "9.43Gbps", "2Gbps"][i], (7 - i) * 0.125]))}</section>`);
const head = ["model", "batch", "compressor", "workers", "nic_bandwidth", "iteration_seconds",
  ...Array.from({length: 14}, (_, i) => `further_column_${i}`)];
const rows = Array.from({length: 100}, (_, i) => [["resnet50", "vgg16", long.slice(0, 60)][i % 3], 32,
  names[i % 7].slice(0, 40), 2 ** (i % 8), bandwidths[i % 6], (random() * 2).toFixed(6),
  ...Array.from({length: 14}, () => random().toFixed(4))]);

const json = JSON.stringify(figures).replace(/</g, "\\u003c").replace(/>/g, "\\u003e").replace(/&/g, "\\u0026");
const script = scriptFile ? readFileSync(scriptFile, "utf8") : "";
process.stdout.write(`<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>${markup(attack)}</title>
<style>${readFileSync(styleFile, "utf8")}</style></head>
<body><a class="skip" href="#main">Skip to the content</a>
<header><h1>${markup(`Forecast ${quotes}`)}</h1></header>
<nav aria-label="Contents"><ul>${figures.map(({id, title}) => `<li><a href="#${id}">${markup(title)}</a></li>`).join("")}<li><a href="#points">All points</a></li></ul></nav>
<main id="main">${sections.join("\n")}
<section id="points"><h2>All points</h2>${details("points", "all points", head, rows, ' class="points"')}</section></main>
<footer>gradcast, ${markup(long)}</footer>
<script type="application/json" id="gradcast-figures">${json}</script>
<script>${script}</script></body></html>
`);
