// The space-time diagram and the time line, drawn on a canvas.

import { bytes, duration, ticks } from "./format.js";
import { packed } from "./layout.js";

export const GUTTER = 132; // pixels of the names of lanes
export const AXIS = 22;
/** Spans that last in one lane, by name: colour, and what the legend says. */
export const SPANS = {
  partition: ["wait", "reads a partition"],
  pending: ["blocked", "state waits"],
  upload: ["async", "batch is uploaded"],
  send: ["done", "state is sent"],
  sync: ["async", "sync is written"],
  checkpoint: ["wait", "checkpoint is under way"],
};
// Arrows of a frame, and of one while the window moves; of more every second, third, ... is drawn.
const ARROWS_MAX = 1500, ARROWS_MOVING = 400;
const HIGH = 18; // pixels of a checkpoint in the time line

/** The colours of the page, from its style sheet. */
export function palette(element) {
  const style = getComputedStyle(element);
  const names = [
    "ink", "soft", "grid", "paper", "raised", "line", "accent", "bad", "aligned", "unaligned",
    "timeout", "blocked", "sync", "async", "wait", "done", "path",
  ];
  return Object.fromEntries(names.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
}

/** A canvas of a size in CSS pixels, sharp on dense screens; returns its context. */
export function prepared(canvas, width, height) {
  const dense = globalThis.devicePixelRatio || 1;
  if (canvas.width !== Math.round(width * dense) || canvas.height !== Math.round(height * dense)) {
    canvas.width = Math.round(width * dense);
    canvas.height = Math.round(height * dense);
    canvas.style.height = `${height}px`;
  }
  const context = canvas.getContext("2d");
  context.setTransform(dense, 0, 0, dense, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}

/** The pixels of an instant within a window. */
export function scale({ from, until }, width) {
  const per = (width - GUTTER - 8) / Math.max(1, until - from);
  return { x: (at) => GUTTER + (at - from) * per, at: (x) => from + (x - GUTTER) / per };
}

/** Draw the lanes of a run in a window.  marks: cause, past, future, path, other run. */
export function drawDiagram(context, run, view, rows, { width, height, colours, names = true }) {
  const { x } = scale(view, width);
  context.font = "11px system-ui, sans-serif";
  context.textBaseline = "middle";
  drawAxis(context, view, width, height, colours, run.data.clock);
  context.save();
  context.beginPath();
  context.rect(GUTTER, 0, width - GUTTER, height);
  context.clip();
  drawLanes(context, rows, width, colours);
  drawRecoveries(context, run, x, height, colours);
  if (run.data.groups.job) drawParts(context, run, view, rows, x, colours);
  else drawSpans(context, run, view, rows, x, colours);
  drawPath(context, run, view, rows, x, colours);
  drawArrows(context, run, view, rows, x, colours);
  drawEvents(context, run, view, rows, x, colours);
  drawViolations(context, run, x, height, colours);
  context.restore();
  if (names) drawNames(context, run, rows, view, colours);
}

function drawAxis(context, view, width, height, colours, clock) {
  const { x } = scale(view, width);
  const { unit, ticks: found } = ticks(view.from, view.until, Math.max(2, (width - GUTTER) / 110));
  context.textAlign = "center";
  for (const { at, label } of found) {
    const left = Math.round(x(at)) + 0.5;
    if (left < GUTTER) continue;
    context.strokeStyle = colours.grid;
    line(context, left, AXIS, left, height);
    context.fillStyle = colours.soft;
    context.fillText(label, Math.min(left, width - 24), AXIS / 2);
  }
  context.textAlign = "left";
  context.fillStyle = colours.soft;
  context.fillText(`${clock} [${unit}]`, 4, AXIS / 2);
}

function drawLanes(context, rows, width, colours) {
  context.strokeStyle = colours.grid;
  rows.forEach((row, lane) => {
    const at = Math.round(row.band ? row.top : row.middle) + 0.5;
    if (row.band ? lane === row.band.lanes[0] : row.height >= 5) line(context, GUTTER, at, width, at);
  });
}

function drawNames(context, run, rows, view, colours) {
  context.textAlign = "right";
  let free = 0;
  const opened = new Map(run.data.groups.vertices.filter(({ name }) => view.open.includes(name)).map(({ lanes }) => [lanes[0], "▾ "]));
  rows.forEach((row, lane) => {
    const chosen = lane === view.lane, { band } = row;
    if (band && lane !== band.lanes[0]) return;
    const middle = band ? row.top + (row.height * band.lanes.length) / 2 : row.middle;
    if (middle < free && !chosen) return;
    const bold = chosen || band?.lanes.includes(view.lane);
    context.fillStyle = bold ? colours.accent : colours.ink;
    context.font = bold ? "bold 11px system-ui, sans-serif" : "11px system-ui, sans-serif";
    const name = band ? `▸ ${band.name} × ${band.lanes.length}` : `${opened.get(lane) ?? ""}${run.data.lanes[lane]}`;
    context.fillText(name.length > 20 ? `${name.slice(0, 19)}…` : name, GUTTER - 8, middle);
    free = middle + 13;
  });
  context.textAlign = "left";
}

/** What each subtask did for the checkpoints in the window: alignment, snapshot, upload. */
function drawParts(context, run, view, rows, x, colours) {
  for (const [id, parts] of Object.entries(run.data.parts)) {
    const row = run.checkpoints.get(id);
    if (!row || row.at > view.until) continue;
    const chosen = id === view.checkpoint;
    context.globalAlpha = chosen || view.checkpoint === null ? 1 : 0.35;
    for (const [lane, first, last, snapshot, copied, written, acknowledged, overtaken] of parts) {
      const place = rows[lane], high = place.band ? place.height : Math.max(2, Math.min(12, place.height * 0.6));
      const top = place.middle - high / 2;
      const bar = (from, until, colour, part = 1) => {
        if (from === null || until === null || until <= from) return;
        const left = x(row.at + from), right = x(row.at + until);
        if (right < GUTTER || left > context.canvas.clientWidth) return;
        context.fillStyle = colour;
        context.fillRect(left, top + (high * (1 - part)) / 2, Math.max(1, right - left), high * part);
      };
      if (chosen) bar(0, first, colours.wait, place.band ? 1 : 0.28);
      bar(first, last, colours.blocked, 0.8);
      bar(snapshot, copied, colours.sync);
      bar(copied, written, colours.async);
      if (acknowledged !== null && place.height >= 4) {
        context.fillStyle = colours.done;
        circle(context, x(row.at + acknowledged), place.middle, Math.min(3.5, place.height / 2));
        if (chosen && overtaken && place.height >= 14) {
          context.fillStyle = colours.soft;
          context.fillText(`${bytes(overtaken)} overtaken`, x(row.at + acknowledged) + 8, place.middle + 7);
        }
      }
    }
  }
  context.globalAlpha = 1;
}

/** What lasts in one lane: readers at work, batches on their way to storage, states that wait. */
function drawSpans(context, run, view, rows, x, colours) {
  for (const [cause, effect, name] of run.data.links) {
    if (!name || run.lane(cause) !== run.lane(effect)) continue;
    const [from, until] = [run.time(cause), run.time(effect)];
    if (until < view.from || from > view.until) continue;
    const place = rows[run.lane(cause)], lit = view.lit?.has(cause) && view.lit.has(effect);
    const high = Math.min(14, place.height * 0.6) * (lit ? 1 : 0.6);
    context.globalAlpha = lit ? 0.9 : 0.35;
    context.fillStyle = colours[SPANS[name]?.[0] ?? "wait"];
    context.fillRect(x(from), place.middle - high / 2, Math.max(1, x(until) - x(from)), high);
  }
  context.globalAlpha = 1;
}

/** The critical path of the selected checkpoint: its steps, and how it moves between lanes. */
function drawPath(context, run, view, rows, x, colours) {
  const cause = run.data.causes[view.checkpoint];
  if (!cause || !cause.path.length) return;
  context.strokeStyle = colours.path;
  context.lineWidth = 3;
  context.lineJoin = "round";
  context.beginPath();
  cause.path.forEach(([lane, , from, until], place) => {
    const y = rows[lane].middle;
    if (place === 0) context.moveTo(x(from), y); else context.lineTo(x(from), y);
    context.lineTo(x(until), y);
  });
  context.stroke();
  context.lineWidth = 1;
}

function drawArrows(context, run, view, rows, x, colours) {
  const shown = run.arrows.filter(([cause, effect]) =>
    run.times[effect] >= view.from && run.times[cause] <= view.until);
  const step = Math.ceil(shown.length / (view.moving ? ARROWS_MOVING : ARROWS_MAX));
  const plain = shown.length > 4000 ? 0.1 : shown.length > 1500 ? 0.3 : 0.75;
  const { lit } = view, special = [];
  const groups = new Map(); // arrows that look alike are one path, which is much quicker
  shown.forEach(([cause, effect], place) => {
    if (lit?.has(cause) && lit.has(effect)) special.push([cause, effect]);
    else if (place % step === 0) {
      const key = run.checkpointOf(effect);
      const faint = view.checkpoint !== null && key !== null && key !== view.checkpoint;
      const look = `${faint ? plain / 6 : plain} ${barrierColour(run, effect, colours)}`;
      if (!groups.has(look)) groups.set(look, []);
      groups.get(look).push([cause, effect]);
    }
  });
  const heads = shown.length < 600;
  for (const [look, arrows] of groups) {
    const [alpha, colour] = look.split(" ");
    strokeArrows(context, run, rows, x, arrows, { alpha: Number(alpha), colour, width: 1, heads });
  }
  strokeArrows(context, run, rows, x, special, { alpha: 1, colour: colours.accent, width: 2, heads: true });
  context.globalAlpha = 1;
  context.lineWidth = 1;
}

function strokeArrows(context, run, rows, x, arrows, { alpha, colour, width, heads }) {
  context.globalAlpha = alpha;
  context.strokeStyle = colour;
  context.lineWidth = width;
  context.beginPath();
  for (const [cause, effect] of arrows) {
    const from = [x(run.times[cause]), rows[run.lane(cause)].middle];
    const to = [x(run.times[effect]), rows[run.lane(effect)].middle];
    context.moveTo(...from);
    context.lineTo(...to);
    if (heads) head(context, from, to);
  }
  context.stroke();
}

function barrierColour(run, number, colours) {
  if (run.kind(number) !== "barrier") return colours.soft;
  const kind = run.field(number, 2);
  if (kind === "UNALIGNED") return colours.unaligned;
  return kind === "TIMEOUTABLE" ? colours.timeout : colours.aligned;
}

function drawEvents(context, run, view, rows, x, colours) {
  rows.forEach((row, lane) => {
    const high = row.band ? row.height / 2 : Math.max(1.5, Math.min(5, row.height / 3));
    let last = -9;
    const own = run.byLane[lane];
    for (let place = run.after(lane, view.from); place < own.length; place += 1) {
      const number = own[place], at = run.times[number];
      if (at > view.until) break;
      const left = x(at), chosen = number === view.event, lit = view.lit?.has(number);
      if (left - last < 1.5 && !chosen && !lit) continue;
      last = left;
      context.fillStyle = chosen ? colours.bad : lit ? colours.accent : colours.ink;
      const size = chosen ? high + 3 : lit ? high + 1 : high;
      context.fillRect(left - (chosen ? 2 : 0.75), row.middle - size, chosen ? 4 : 1.5, 2 * size);
    }
  });
}

function drawRecoveries(context, run, x, height, colours) {
  for (const row of run.data.recoveries) {
    const from = x(row.failed_ns), until = x(row.resumed_ns ?? row.failed_ns);
    context.globalAlpha = 0.14;
    context.fillStyle = colours.bad;
    context.fillRect(from, AXIS, Math.max(2, until - from), height - AXIS);
    context.globalAlpha = 1;
  }
}

function drawViolations(context, run, x, height, colours) {
  context.strokeStyle = colours.bad;
  context.setLineDash([5, 3]);
  for (const one of run.data.violations) line(context, x(one.at), AXIS, x(one.at), height);
  context.setLineDash([]);
}

/** The rows of the time line in which checkpoints lie, and how many there are. */
function timeLineRows(checkpoints) {
  const rows = checkpoints.filter((row) => row.inner !== true);
  const places = packed(rows.map((row) => ({ at: row.at, until: row.at + (row.took ?? 0) })));
  return { rows, places, depth: Math.min(12, Math.max(1, ...places.map((place) => place + 1))) };
}

/** How high a time line is, in pixels. */
export function timeLineHeight(checkpoints) {
  return AXIS + 10 + Math.min(72, HIGH * timeLineRows(checkpoints).depth);
}

/** Draw all checkpoints of a run with the window that the diagram shows; returns their boxes. */
export function drawTimeLine(context, run, view, { width, height, colours, ended }) {
  const whole = { from: 0, until: ended };
  const { x } = scale(whole, width);
  context.font = "11px system-ui, sans-serif";
  context.textBaseline = "middle";
  drawAxis(context, whole, width, height, colours, run.data.clock);
  const { rows, places, depth } = timeLineRows(run.data.checkpoints);
  const high = Math.max(4, Math.min(HIGH, (height - AXIS - 6) / depth));
  for (const row of run.data.recoveries) {
    context.fillStyle = colours.bad;
    context.fillRect(x(row.failed_ns) - 1, AXIS, 2, height - AXIS);
  }
  const boxes = rows.map((row, place) => {
    const left = x(row.at), until = row.took === null ? run.data.ended : row.at + row.took;
    const box = {
      key: row.key, left, top: AXIS + (places[place] % 12) * high, height: high - 1,
      width: Math.max(3, x(until) - left),
    };
    context.fillStyle = row.status === "completed" ? colours.async
      : row.status === "pending" ? colours.soft : colours.bad;
    context.fillRect(box.left, box.top, box.width, box.height);
    if (row.key === view.checkpoint) {
      context.strokeStyle = colours.path;
      context.lineWidth = 2;
      context.strokeRect(box.left - 1, box.top - 1, box.width + 2, box.height + 2);
      context.lineWidth = 1;
    }
    return box;
  });
  for (const one of run.data.violations) {
    context.strokeStyle = colours.bad;
    context.setLineDash([4, 3]);
    line(context, x(one.at), AXIS, x(one.at), height);
    context.setLineDash([]);
  }
  context.strokeStyle = colours.accent;
  context.strokeRect(x(view.from), AXIS + 0.5, Math.max(3, x(view.until) - x(view.from)), height - AXIS - 1);
  return boxes;
}

/** One line of text about a checkpoint. */
export function checkpointText(row) {
  const took = row.took === null ? "under way" : `${row.status} after ${duration(row.took)}`;
  return `${row.key.replace("@", ", attempt ")}: ${took}`;
}

function line(context, x1, y1, x2, y2) {
  context.beginPath();
  context.moveTo(x1, y1);
  context.lineTo(x2, y2);
  context.stroke();
}

function head(context, [x1, y1], [x2, y2]) {
  const angle = Math.atan2(y2 - y1, x2 - x1);
  for (const turn of [-0.4, 0.4]) {
    context.moveTo(x2, y2);
    context.lineTo(x2 - 7 * Math.cos(angle + turn), y2 - 7 * Math.sin(angle + turn));
  }
}

function circle(context, x, y, radius) {
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  context.fill();
}
