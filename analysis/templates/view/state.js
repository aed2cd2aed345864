// What is shown, and its text in the address: `#c=12&e=345&t=100-2000&q=sink`.

export const EMPTY = { run: 0, checkpoint: null, event: null, from: 0, until: 1, words: "", open: [] };

export function fragment(state) {
  const parts = [];
  if (state.run) parts.push(`r=${state.run}`);
  if (state.checkpoint !== null) parts.push(`c=${encodeURIComponent(state.checkpoint)}`);
  if (state.event !== null) parts.push(`e=${state.event}`);
  parts.push(`t=${Math.round(state.from)}-${Math.round(state.until)}`);
  if (state.words) parts.push(`q=${encodeURIComponent(state.words)}`);
  if (state.open.length) parts.push(`o=${state.open.map(encodeURIComponent).join(",")}`);
  return `#${parts.join("&")}`;
}

/** Read a fragment; what is not a number of the expected form is left out. */
export function parsed(text) {
  const found = {};
  for (const part of text.replace(/^#/, "").split("&")) {
    const [key, value = ""] = part.split("=");
    if (key === "r" && /^[01]$/.test(value)) found.run = Number(value);
    if (key === "c") found.checkpoint = decoded(value);
    if (key === "e" && /^\d{1,9}$/.test(value)) found.event = Number(value);
    if (key === "q") found.words = decoded(value);
    if (key === "o") found.open = value.split(",").map(decoded).filter(Boolean);
    const window = key === "t" && /^(\d{1,18})-(\d{1,18})$/.exec(value);
    if (window && Number(window[2]) > Number(window[1])) {
      found.from = Number(window[1]);
      found.until = Number(window[2]);
    }
  }
  return found;
}

function decoded(text) {
  try { return decodeURIComponent(text); } catch { return ""; }
}

/** A window zoomed by a factor around an instant, within the run, at least 100 ns wide. */
export function zoomed({ from, until }, factor, at, ended) {
  const span = Math.min(ended * 1.1 + 1, Math.max(100, (until - from) * factor));
  const share = (at - from) / Math.max(1, until - from);
  const start = Math.max(-0.05 * ended, Math.min(at - share * span, ended * 1.05 - span));
  return { from: Math.max(0, start), until: Math.max(0, start) + span };
}

/** A window moved by a share of its width, within the run. */
export function moved({ from, until }, share, ended) {
  const span = until - from;
  const start = Math.max(0, Math.min(from + share * span, Math.max(0, ended * 1.05 - span)));
  return { from: start, until: start + span };
}

export const KEYS = [
  ["← →", "event before, event after"],
  ["↑ ↓", "same time, lane above or below"],
  ["n p", "next, previous checkpoint"],
  ["+ −", "zoom in, zoom out"],
  ["a d", "move left, move right"],
  ["0", "whole run"],
  ["o", "open or fold the selected vertex"],
  ["f", "filter events"],
  ["Esc", "select nothing"],
];
