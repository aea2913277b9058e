// Numbers as people write them, and numbers read back from what tables show.
const upTo5 = new Intl.NumberFormat("en", {maximumSignificantDigits: 5, useGrouping: "min2"});

const letters = [[1e12, "T"], [1e9, "G"], [1e6, "M"]];

/// 0.25, 1.234, 1024, 16,384, 25.6M; what letters do not reach as powers of ten.
export function numberText(value) {
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e15)) {
    return Number(value.toPrecision(3)).toExponential().replace("e+", "e");
  }
  const [unit, letter] = letters.find(([from]) => size >= from) ?? [1, ""];
  return upTo5.format(value / unit) + letter;
}

const prefixes = new Map(Object.entries({
  n: 1e-9, u: 1e-6, µ: 1e-6, m: 1e-3, k: 1e3, K: 1e3, M: 1e6, G: 1e9, T: 1e12,
  Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40,
}));
const units = ["bps", "B", "s", "Flops"];

/// The number in a cell: "12.5 %" is 12.5, "100Mbps" is 1e8, so that it comes before "1Gbps".
/// undefined for what is no number.
export function cellValue(text) {
  const match = /^([-+−]?[\d,]*\.?\d+(?:e[-+]?\d+)?)\s*(\S*)$/i.exec(text);
  if (!match) return undefined;
  const number = Number(match[1].replaceAll(",", "").replace("−", "-"));
  if (Number.isNaN(number)) return undefined;
  const unit = units.find((name) => match[2].endsWith(name));
  const prefix = unit ? match[2].slice(0, -unit.length) : "";
  return number * (prefixes.get(prefix) ?? 1);
}

/// "1 MiB" of 1,048,576: sizes are powers of two on such an axis.
export function bytesText(bytes) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  const power = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log2(bytes) / 10 + 1e-9)));
  return `${numberText(bytes / 2 ** (10 * power))} ${units[power]}`;
}
