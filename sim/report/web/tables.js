// Tables: a press on a column's name sorts by it (up, down, as it was); the table of all points
// has a box that leaves only the rows with all the words in it.
import {html} from "./elements.js";
import {cellValue} from "./numbers.js";

const byText = new Intl.Collator("en", {numeric: true});
const nextOrder = {none: "ascending", ascending: "descending", descending: "none"};

function textIn(row, column) {
  return row.cells[column]?.textContent.trim() ?? "";
}

/// Columns of numbers and nothing else stand to the right, so that digits stand below digits.
function alignNumbers(heads, rows) {
  heads.forEach((head, column) => {
    const texts = rows.map((row) => textIn(row, column)).filter(Boolean);
    if (texts.length === 0 || texts.some((text) => cellValue(text) === undefined)) return;
    for (const cell of [head, ...rows.map((row) => row.cells[column])]) cell?.classList.add("number");
  });
}

/// Rows, sorted; empty cells stay at the end either way.
function sorted(rows, column, order) {
  if (order === "none") return rows;
  const keyed = rows.map((row) => ({row, text: textIn(row, column)}));
  const values = keyed.map(({text}) => (text === "" ? null : cellValue(text)));
  const numeric = values.every((value) => value !== undefined);
  const sign = order === "ascending" ? 1 : -1;
  keyed.forEach((entry, i) => (entry.value = values[i]));
  keyed.sort((a, b) => {
    if ((a.text === "") !== (b.text === "")) return a.text === "" ? 1 : -1;
    return sign * (numeric ? a.value - b.value : byText.compare(a.text, b.text));
  });
  return keyed.map(({row}) => row);
}

function makeSortable(table) {
  const heads = [...(table.tHead?.rows[table.tHead.rows.length - 1]?.cells ?? [])];
  const body = table.tBodies[0];
  if (!body) return;
  const original = [...body.rows];
  alignNumbers(heads, original);
  heads.forEach((head, column) => {
    const button = html("button", {type: "button", class: "sort"});
    button.append(...head.childNodes);
    head.append(button);
    head.setAttribute("aria-sort", "none");
    button.addEventListener("click", () => {
      const order = nextOrder[head.getAttribute("aria-sort")];
      for (const other of heads) other.setAttribute("aria-sort", "none");
      head.setAttribute("aria-sort", order);
      body.append(...sorted(original, column, order));
    });
  });
}

function makeFilterable(table) {
  const body = table.tBodies[0];
  if (!body) return;
  const rows = [...body.rows].map((row) => ({
    row,
    text: [...row.cells].map((cell) => cell.textContent.trim()).join(" ").toLowerCase(),
  }));
  const box = html("input", {type: "search", autocomplete: "off", spellcheck: "false"});
  const count = html("output", {});
  const label = html("label", {}, "Rows with ", box);
  const show = () => {
    const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const {row, text} of rows) {
      const fits = words.every((word) => text.includes(word));
      row.hidden = !fits;
      if (fits) ++shown;
    }
    count.textContent = `${shown} of ${rows.length} rows`;
  };
  box.addEventListener("input", show);
  show();
  (table.closest(".scroll") ?? table).before(html("div", {class: "filter"}, label, count));
}

export function makeTablesSortable() {
  for (const table of document.querySelectorAll("main table")) {
    makeSortable(table);
    if (table.classList.contains("points")) makeFilterable(table);
  }
}
