// Texts for people: times, sizes, axes.

const UNITS = [[3600e9, "h"], [60e9, "min"], [1e9, "s"], [1e6, "ms"], [1e3, "us"], [1, "ns"]];

/** A duration in ns with three digits, as in "1.18 s". */
export function duration(ns) {
  if (ns === null || ns === undefined) return "-";
  if (ns === 0) return "0 s";
  const [size, name] = UNITS.find(([size]) => Math.abs(ns) >= size) ?? [1, "ns"];
  return `${Number((ns / size).toPrecision(3))} ${name}`;
}

/** An instant in ns to the microsecond, as in "6.504 ms". */
export function instant(ns) {
  const us = Math.floor(ns / 1e3);
  return us < 1e6 ? `${(us / 1e3).toFixed(3)} ms` : `${(us / 1e6).toFixed(6)} s`;
}

/** A size in bytes, as in "39 KiB". */
export function bytes(count) {
  if (count === null || count === undefined) return "-";
  const names = ["B", "KiB", "MiB", "GiB", "TiB"];
  let place = 0;
  while (count >= 1024 && place < names.length - 1) { count /= 1024; place += 1; }
  return `${Number(count.toPrecision(3))} ${names[place]}`;
}

/** Round instants of an axis from one instant to another, some `count`, with their labels. */
export function ticks(from, until, count) {
  const span = Math.max(1, until - from);
  const rough = span / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = Math.max(1, power * [1, 2, 5, 10].find((one) => one * power >= rough));
  const [size, name] = UNITS.slice(2).find(([size]) => until >= size) ?? [1, "ns"];
  const digits = Math.max(0, Math.ceil(-Math.log10(step / size) - 1e-9));
  const found = [];
  for (let at = Math.ceil(from / step) * step; at <= until; at += step) {
    found.push({ at, label: `${(at / size).toFixed(Math.min(9, digits))}` });
  }
  return { unit: name, ticks: found };
}

/** A sentence of a kind of event with its fields in the place of the braces. */
export function sentence(says, names, fields) {
  const named = new Map();
  names.forEach((name, place) => {
    const rest = name.endsWith("*");
    const value = rest ? fields.slice(place).join(" ") : fields[place];
    named.set(rest ? name.slice(0, -1) : name, value);
  });
  if (!names.length && fields.length) return `${says} ${fields.join(" ")}`;
  const text = says.replace(/\{(\w+)\}( ns\b)?/g, (whole, name) => {
    const value = named.get(name);
    if (value === null || value === undefined) return "-";
    return name.endsWith("_ns") ? duration(value) : String(value);
  });
  return text.trim();
}
