// Opens reports as a reader would, in Chromium without a network, and complains of what is amiss.
// usage: node report_browser_test.mjs [--modules FOLDER] [--screenshots FOLDER] [--browser PROGRAM]
//                                     [--expect interactive|static] [--glance REPORT.html]...
//                                     REPORT.html...
// --glance: only the first screen, the page's length and axe-core, in each window and both colours.
// --screenshots: where a page of which something is amiss is kept as a picture.
// FOLDER has node_modules (default: where this lies). Pictures are expected to be interactive, but for
// those of figures named "broken-..."; with --expect static, of a build without Node, none are.
// Exit code: 0 all is well, 1 something is amiss, 2 usage.
import {mkdirSync, readFileSync} from "node:fs";
import {createRequire} from "node:module";
import path from "node:path";
import {fileURLToPath, pathToFileURL} from "node:url";
import {parseArgs} from "node:util";

const {values: options, positionals: reports} = parseArgs({
  allowPositionals: true,
  options: {
    modules: {type: "string", default: path.dirname(fileURLToPath(import.meta.url))},
    screenshots: {type: "string"},
    browser: {type: "string", default: "/usr/bin/chromium"},
    expect: {type: "string", default: "interactive"},
    glance: {type: "string", multiple: true, default: []},
  },
});
if (reports.length + options.glance.length === 0 || !["interactive", "static"].includes(options.expect)) {
  console.error("usage: report_browser_test.mjs [--modules FOLDER] [--screenshots FOLDER] " +
                "[--browser PROGRAM] [--expect interactive|static] [--glance REPORT.html]... REPORT.html...");
  process.exit(2);
}
const require = createRequire(path.join(path.resolve(options.modules), "package.json"));
const puppeteer = require("puppeteer-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
if (options.screenshots) mkdirSync(options.screenshots, {recursive: true});

const browser = await puppeteer.launch({
  // In milliseconds: a step that hangs is a failure, not a wait. A step of the longest report
  // took more than 60 s beside builds that had both cores.
  protocolTimeout: 240_000,
  executablePath: options.browser,
  headless: true,
  args: ["--no-sandbox", "--disable-gpu", "--host-resolver-rules=MAP * ~NOTFOUND",
         "--force-color-profile=srgb", "--hide-scrollbars"],
});

/// A laptop's window and a telephone's.
const heights = {1366: 768, 390: 844};

/// A page with the report in it, and the list of what went wrong so far.
async function opened(report, {width, theme, scripts}) {
  const page = await browser.newPage();
  const complaints = [];
  page.on("console", (message) => complaints.push(`console: ${message.text()}`));
  page.on("pageerror", (problem) => complaints.push(`page error: ${problem.message}`));
  page.on("dialog", async (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    await dialog.dismiss();
  });
  page.on("request", (request) => {
    const own = request.url() === pathToFileURL(path.resolve(report)).href;
    if (!own && !request.url().startsWith("data:")) complaints.push(`request: ${request.url()}`);
  });
  await page.setJavaScriptEnabled(scripts);
  await page.setOfflineMode(true);
  await page.setViewport({width, height: heights[width]});
  await page.emulateMediaFeatures([{name: "prefers-color-scheme", value: theme}]);
  await page.goto(pathToFileURL(path.resolve(report)).href, {waitUntil: "load"});
  return {page, complaints};
}

/// Opens all that is folded, and waits until its pictures are drawn.
async function unfold(page, scripts) {
  await page.evaluate(() => document.querySelectorAll("details.more").forEach((one) => (one.open = true)));
  if (scripts) await page.evaluate(() => new Promise((done) =>
    requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done)))));
}

/// Complaints about the first screen, which must show question, verdict and picture. The page is at
/// most three screens of a laptop long; the rest is folded. Runs in the page.
function firstScreen() {
  const complaints = [];
  const screen = window.innerHeight;
  const within = (what, node) => {
    const bottom = node?.getBoundingClientRect().bottom;
    if (!(bottom <= screen)) complaints.push(`${what} ends at ${bottom}, and the first screen at ${screen}`);
  };
  within("the question", document.querySelector("h1"));
  within("the verdict", document.querySelector(".headline"));
  // A narrow window has several panels below each other.
  within("the first picture", document.querySelector(".first [data-figure] svg[role=img]"));
  if (window.innerWidth > 1000) within("the first figure", document.querySelector(".first [data-figure]"));
  if (/^gradcast report$/.test(document.title) || document.title !== document.querySelector("h1").textContent) {
    complaints.push(`the title is "${document.title}"`);
  }
  const screens = document.documentElement.scrollHeight / screen;
  if (window.innerWidth > 1000 && screens > 3) complaints.push(`the page is ${screens.toFixed(1)} screens long`);
  if (/`/.test(document.querySelector("main").innerText)) complaints.push("backticks in a text");
  return complaints;
}

/// Complaints about rules that hold in every window, as a list. Runs in the page.
function lookAround(interactive) {
  const complaints = [];
  const plots = [...document.querySelectorAll("[data-figure]")];
  if (plots.length === 0) complaints.push("no figure");
  for (const plot of plots) {
    const name = plot.dataset.figure;
    const expected = !interactive ? undefined : name.startsWith("broken-") ? "static" : "interactive";
    if (plot.dataset.drawn !== expected) {
      complaints.push(`${name} is ${plot.dataset.drawn} (${plot.dataset.problem}), not ${expected}`);
    }
    const pictures = [...plot.querySelectorAll("svg[role=img]")];
    if (pictures.length === 0) complaints.push(`${name} has no picture`);
    for (const picture of pictures) {
      if (!picture.getAttribute("aria-label") && !picture.getAttribute("aria-labelledby")) {
        complaints.push(`${name} has no words for a screen reader`);
      }
      const {width, height} = picture.getBoundingClientRect();
      if (width < 100 || height < 20) complaints.push(`${name} is ${width} by ${height} pixels`);
      const drawnFor = picture.viewBox.baseVal?.width;
      if (plot.dataset.drawn === "interactive" && Math.abs(drawnFor - width) > 2) {
        complaints.push(`${name} was drawn ${drawnFor} pixels wide and is shown ${width} wide`);
      }
      const marks = [...picture.querySelectorAll("path, rect, circle, line, polyline, polygon")]
        .filter((mark) => !mark.closest("defs"));
      const drawn = marks.filter((mark) => {
        const box = mark.getBBox();
        return box.width > 0 || box.height > 0;
      });
      if (drawn.length === 0) complaints.push(`${name} has no mark with a size`);
      if (/NaN|undefined|Infinity/.test(picture.innerHTML.replace(/<text.*?<\/text>/gs, ""))) {
        complaints.push(`${name} has a mark that is nowhere`);
      }
    }
  }
  for (const table of document.querySelectorAll("table")) {
    const rows = [...table.tBodies].flatMap((body) => [...body.rows]);
    const where = table.closest("section")?.id ?? "a table";
    if (rows.length === 0) complaints.push(`the table of ${where} has no row`);
    for (const row of rows) {
      if (row.cells.length === 0) complaints.push(`a row of ${where} has no cell`);
    }
  }
  const wide = document.documentElement.scrollWidth - window.innerWidth;
  if (wide > 0) {
    const culprit = [...document.querySelectorAll("body *")].find((node) =>
      !node.closest(".scroll, svg") && node.getBoundingClientRect().right > window.innerWidth + 1);
    complaints.push(`the page is ${wide} pixels wider than the window (${culprit?.outerHTML.slice(0, 120)})`);
  }
  return complaints;
}

async function accessibility(page) {
  await page.evaluate(axe);
  const {violations} = await page.evaluate(() => window.axe.run(document, {resultTypes: ["violations"]}));
  return violations.filter(({impact}) => impact === "serious" || impact === "critical")
    .map(({id, help, nodes}) => `axe ${id}: ${help}: ${nodes[0].html.slice(0, 150)} (${nodes.length})`);
}

/// Tab goes to a summary; Enter opens it.
async function keyboard(page) {
  const complaints = [];
  let found = false;
  for (let i = 0; i < 400 && !found; ++i) {
    await page.keyboard.press("Tab");
    const where = await page.evaluate(() => {
      const one = document.activeElement;
      return {visible: getComputedStyle(one).outlineStyle !== "none",
              summary: one.matches("summary") && !one.parentElement.open, markup: one.outerHTML.slice(0, 80)};
    });
    if (!where.visible) complaints.push(`nothing shows where the focus is: ${where.markup}`);
    found = where.summary;
  }
  if (!found) complaints.push("Tab never reaches what is folded");
  await page.keyboard.press("Enter");
  const open = await page.evaluate(() => document.activeElement.parentElement.open);
  if (!open) complaints.push("Enter does not open a table");
  return complaints;
}

/// Arrow keys in every interactive picture give the points' words; the pointer shows the same box.
async function exploring(page) {
  const complaints = [];
  for (const panels of await page.$$(".plot[data-drawn=interactive] .panels")) {
    await panels.focus();
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowRight");
    const {spoken, tip, outline, wide} = await panels.evaluate((node) => ({
      spoken: node.querySelector(".spoken").textContent,
      tip: !node.querySelector(".tip").hidden && node.querySelector(".tip").textContent,
      outline: node.querySelector(".here")?.getBoundingClientRect().width ?? 0,
      wide: document.documentElement.scrollWidth - window.innerWidth,
    }));
    const figure = await panels.evaluate((node) => node.closest("[data-figure]").dataset.figure);
    if (!spoken || tip !== spoken) complaints.push(`${figure}: arrow keys tell "${spoken}", show "${tip}"`);
    if (!(outline > 0)) complaints.push(`${figure}: no outline around the point`);
    if (wide > 0) complaints.push(`${figure}: the box makes the page ${wide} pixels too wide`);
    await page.keyboard.press("Escape");
    const outlined = await panels.$(".here");
    if (outlined) complaints.push(`${figure}: Escape does not hide the box`);
  }
  return complaints;
}

/// Every column of every table: pressed once it rises, twice it falls, thrice it is as it was.
async function sorting(page) {
  return page.evaluate(() => {
    const complaints = [];
    for (const table of document.querySelectorAll("main table")) {
      const where = table.closest("section")?.id;
      const all = () => [...table.tBodies[0].rows];
      const before = all();
      const heads = [...table.tHead.rows[0].cells].slice(0, 8);
      heads.forEach((head, column) => {
        const button = head.querySelector("button");
        if (!button) return complaints.push(`${where}: no button in column ${column}`);
        const cells = () => all().map((row) => row.cells[column].textContent.trim());
        button.click();
        const up = cells().filter(Boolean);
        if (head.getAttribute("aria-sort") !== "ascending") complaints.push(`${where}: not said to rise`);
        if (cells().findLastIndex(Boolean) !== up.length - 1) complaints.push(`${where}: empty cells come first`);
        const numbers = up.map(Number);
        if (numbers.every((value) => !Number.isNaN(value)) &&
            numbers.some((value, i) => i > 0 && value < numbers[i - 1])) {
          complaints.push(`${where}: column ${column} does not rise`);
        }
        button.click();
        const down = cells().filter(Boolean);
        if (new Set(up).size > 1 && up[0] === down[0]) complaints.push(`${where}: column ${column} does not fall`);
        button.click();
        if (all().some((row, i) => row !== before[i])) complaints.push(`${where}: rows do not go back`);
      });
    }
    return complaints;
  });
}

async function filtering(page) {
  const complaints = [];
  for (const filter of await page.$$(".filter")) {
    await filter.evaluate((node) => (node.closest("details").open = true));
    const shown = () => filter.evaluate((node) => {
      const rows = [...node.parentElement.querySelector("table.points").tBodies[0].rows];
      return {shown: rows.filter((row) => row.getClientRects().length > 0).length, all: rows.length,
              first: rows[0].cells[0].textContent.trim(), said: node.querySelector("output").textContent};
    });
    const {first, all} = await shown();
    const box = await filter.$("input");
    await box.type("no such row");
    if ((await shown()).shown !== 0) complaints.push("the filter leaves rows without its words");
    await box.evaluate((node) => node.select());
    await box.type(first.split(/\s+/)[0]);
    const found = await shown();
    if (found.shown < 1 || found.said !== `${found.shown} of ${all} rows`) {
      complaints.push(`the filter for ${first} leaves ${found.shown} rows and says "${found.said}"`);
    }
    await box.evaluate((node) => {
      node.value = "";
      node.dispatchEvent(new Event("input"));
    });
    if ((await shown()).shown !== all) complaints.push("an empty filter does not show all rows");
  }
  return complaints;
}

/// The button changes the colours, and back.
async function themes(page) {
  const paper = () => page.evaluate(() =>
    getComputedStyle(document.documentElement).getPropertyValue("--paper").trim());
  // Pictures that are still being drawn move the button: a locator waits until it stands still.
  const press = () => page.locator("button.theme").click();
  const before = await paper();
  await press();
  const between = await paper();
  await press();
  const after = await paper();
  return before !== between && before === after ? [] : [`colours: ${before}, ${between}, ${after}`];
}

/// A press on a name takes it out of the picture, a second one puts it back.
async function legends(page) {
  return page.evaluate(() => {
    const complaints = [];
    for (const plot of document.querySelectorAll(".plot[data-drawn=interactive]")) {
      const shapes = () => plot.querySelectorAll("svg.chart :is(path, rect, circle, line)").length;
      const count = plot.querySelectorAll(".legend button").length;
      const before = shapes();
      for (let i = 0; i < count; ++i) {
        const button = () => plot.querySelectorAll(".legend button")[i];
        button().click();
        if (button().getAttribute("aria-pressed") !== "false") complaints.push("a name is not said to be off");
        if (shapes() >= before) complaints.push(`${plot.dataset.figure}: ${button().textContent} stays`);
        button().click();
        if (shapes() !== before) complaints.push(`${plot.dataset.figure}: ${button().textContent} is not back`);
      }
    }
    return complaints;
  });
}

async function printing(page) {
  await page.evaluate(() => document.querySelectorAll("details.more").forEach((one) => (one.open = false)));
  await page.emulateMediaType("print");
  const pdf = await page.pdf({format: "A4", timeout: 240_000});
  const figures = await page.evaluate(() =>
    [...document.querySelectorAll("[data-figure]")].every((node) => node.checkVisibility()));
  const hidden = await page.evaluate(() =>
    [...document.querySelectorAll(".theme, .filter")].every((node) => node.getClientRects().length === 0));
  await page.emulateMediaType("screen");
  const complaints = hidden ? [] : ["buttons are printed"];
  if (!figures) complaints.push("a folded figure is not printed");
  if (pdf.length < 5000) complaints.push(`the print has ${pdf.length} bytes`);
  return complaints;
}

let failures = 0;
for (const report of reports) {
  const stem = path.basename(report, ".html");
  for (const width of [390, 1366]) {
    for (const theme of ["light", "dark"]) {
      for (const scripts of [true, false]) {
        const once = (width === 390) === (theme === "light");
        // The page without scripts: each width and each theme once.
        if (!scripts && !once) continue;
        const name = `${stem}-${width}-${theme}-${scripts ? "scripts" : "still"}`;
        const {page, complaints} = await opened(report, {width, theme, scripts});
        const interactive = scripts && options.expect === "interactive";
        const step = async (what, action) => {
          try {
            complaints.push(...await action());
          } catch (problem) {
            complaints.push(`${what}: ${problem.stack}`);
          }
        };
        if (interactive && !stem.startsWith("hostile")) {
          await step("first screen", () => page.evaluate(firstScreen));
        }
        await step("unfold", async () => (await unfold(page, interactive), []));
        await step("look", () => page.evaluate(lookAround, interactive));
        await step("keyboard", () => keyboard(page));
        // These take long. What axe looks at depends on the width or on the colours, never on both: once each.
        if (once) await step("axe", async () => {
          // axe itself needs timers; what the page would have done when it was loaded stays undone.
          await page.setJavaScriptEnabled(true);
          return accessibility(page);
        });
        if (interactive) {
          // Rows and names go the same way in every window.
          const narrow = once && width === 390;
          for (const check of [...(once ? [exploring, themes] : []), ...(narrow ? [sorting, filtering, legends] : [])]) {
            await step(check.name, () => check(page));
          }
          // From a wide window to a narrow one: drawn anew, and nothing sticks out.
          await page.setViewport({width: width === 390 ? 1000 : 420, height: 900});
          await page.evaluate(() => new Promise((done) =>
            requestAnimationFrame(() => requestAnimationFrame(done))));
          await step("resized", () => page.evaluate(lookAround, interactive));
        }
        // Paper is as wide whatever the window was.
        if (width === 1366 && (theme === "light" || !scripts)) await step("print", () => printing(page));
        if (await page.title() === "run") complaints.push("a name was run as a script");
        // For who must find out why: a picture of a long report takes seconds.
        if (options.screenshots && complaints.length > 0) {
          await page.screenshot({path: path.join(options.screenshots, `${name}.png`), fullPage: true});
        }
        await page.close();
        for (const complaint of complaints) console.log(`${name}: ${complaint}`);
        failures += complaints.length;
      }
    }
  }
  console.log(`${report}: looked at, ${options.expect} pictures`);
}
for (const report of options.glance) {
  const stem = path.basename(report, ".html");
  for (const width of [390, 1366]) {
    const {page, complaints} = await opened(report, {width, theme: "light", scripts: true});
    complaints.push(...await page.evaluate(firstScreen));
    await unfold(page, true);
    complaints.push(...await page.evaluate(lookAround, options.expect === "interactive"));
    for (const theme of ["light", "dark"]) {
      await page.emulateMediaFeatures([{name: "prefers-color-scheme", value: theme}]);
      complaints.push(...(await accessibility(page)).map((one) => `${theme}: ${one}`));
    }
    if (options.screenshots && complaints.length > 0) {
      await page.screenshot({path: path.join(options.screenshots, `${stem}-${width}.png`), fullPage: true});
    }
    await page.close();
    for (const complaint of complaints) console.log(`${stem}-${width}: ${complaint}`);
    failures += complaints.length;
  }
  console.log(`${report}: glanced at`);
}
await browser.close();
process.exit(failures === 0 ? 0 : 1);
