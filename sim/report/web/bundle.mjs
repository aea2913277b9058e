// Bundles report.js and what it imports into one script, with the licences of all that is inside.
// usage: node bundle.mjs FOLDER      reads FOLDER/report.js, FOLDER/node_modules;
//                                    writes FOLDER/bundle.js, FOLDER/THIRD_PARTY_LICENSES
import {readFileSync, readdirSync, writeFileSync} from "node:fs";
import {createRequire} from "node:module";
import path from "node:path";

const folder = path.resolve(process.argv[2]);
const {build} = createRequire(path.join(folder, "package.json"))("esbuild");

const result = await build({
  absWorkingDir: folder,
  entryPoints: ["report.js"],
  bundle: true,
  minify: true,
  format: "iife",
  target: "es2020",
  legalComments: "none",  // the whole licences are below
  metafile: true,
  write: false,
});

/// The packages that have a line in the script, in the alphabet's order.
function packagesIn({outputs}) {
  const names = new Set();
  for (const {inputs} of Object.values(outputs)) {
    for (const [file, {bytesInOutput}] of Object.entries(inputs)) {
      const name = /(?:.*\/)?node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1];
      if (name && bytesInOutput > 0) names.add(name);
    }
  }
  return [...names].sort();
}

function licenceOf(name) {
  const home = path.join(folder, "node_modules", name);
  const {version, license} = JSON.parse(readFileSync(path.join(home, "package.json"), "utf8"));
  const file = readdirSync(home).sort().find((one) => /^licen[cs]e(\.|$)/i.test(one));
  if (!file || !license) throw new Error(`${name} says nothing of its licence`);
  const text = readFileSync(path.join(home, file), "utf8").replaceAll("\r", "").trim();
  return {title: `${name} ${version} (${license})`, text};
}

/// Each text once, below the names of the packages that come with it.
function licences(names) {
  const titles = new Map();
  for (const {title, text} of names.map(licenceOf)) {
    titles.set(text, [...(titles.get(text) ?? []), title]);
  }
  const parts = [...titles].map(([text, of]) => `${of.join("\n")}\n\n${text}\n`);
  return `The pictures of reports are drawn with these:\n\n${parts.join(`\n${"-".repeat(72)}\n\n`)}`;
}

const notice = licences(packagesIn(result.metafile));
if (notice.includes("*/")) throw new Error("a licence would end the comment that it stands in");
// Every report carries the script, so the script carries the licences.
const script = `/*!\n${notice}*/\n${result.outputFiles[0].text}`;
// In a page, these would end the script or hide its end.
const stranger = /<\/script|<script|<!--/i.exec(script);
if (stranger) throw new Error(`the script has "${stranger[0]}" in it`);

writeFileSync(path.join(folder, "THIRD_PARTY_LICENSES"), notice);
writeFileSync(path.join(folder, "bundle.js"), script);
