// The page: what is selected, and what is drawn of it.

import { bytes, duration, instant } from "./format.js";
import { AXIS, GUTTER, SPANS, checkpointText, drawDiagram, drawTimeLine, palette, prepared, scale, timeLineHeight } from "./diagram.js";
import { graphSvg } from "./graph.js";
import { foldedBands, laneRows } from "./layout.js";
import { Run, compared } from "./model.js";
import { EMPTY, KEYS, fragment, moved, parsed, zoomed } from "./state.js";

const EVENTS_SHOWN = 400;
const HEIGHT_LEAST = 240, LANE_LEAST = 5, LANE_LEAST_OPEN = 14;
const $ = (id) => document.getElementById(id);
const element = (name, attributes = {}, ...children) => {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value); else made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
};

class Page {
  constructor(documents) {
    this.runs = documents.map((one) => new Run(one));
    this.state = { ...EMPTY, checkpoint: documents[0].selected };
    this.lane = null;
    this.boxes = [];
    this.ended = Math.max(1, ...documents.map((one) => one.ended));
    Object.assign(this.state, this.window(this.state.checkpoint), parsed(location.hash));
    if (this.state.run >= this.runs.length) this.state.run = 0;
    if (!this.run.data.events[this.state.event]) this.state.event = null;
    if (!this.run.checkpoints.has(this.state.checkpoint)) this.state.checkpoint = null;
    this.build();
    this.listen();
    const broken = this.run.data.violations[0];
    if (broken && !location.hash) this.goTo(broken.at, 0); else this.select({});
  }

  get run() { return this.runs[this.state.run]; }

  window(checkpoint) {
    if (checkpoint === null) return { from: 0, until: this.ended };
    const found = this.runs.map((run) => run.checkpoints.has(checkpoint) ? run.window(checkpoint) : null)
      .filter(Boolean);
    if (!found.length) return { from: 0, until: this.ended };
    return { from: Math.min(...found.map(([from]) => from)), until: Math.max(...found.map(([, until]) => until)) };
  }

  /** Change what is selected and draw all that depends on it. */
  select(change) {
    Object.assign(this.state, change);
    const { event, checkpoint } = this.state;
    this.lit = null;
    if (event !== null) {
      this.lane = this.run.lane(event);
      this.lit = new Set([event, ...this.run.past(event), ...this.run.future(event)]);
    } else if (checkpoint !== null && !this.run.data.groups.job) {
      this.lit = new Set(this.run.byCheckpoint.get(checkpoint) ?? []);
    }
    history.replaceState(null, "", fragment(this.state));
    this.drawTexts();
    this.draw();
  }

  selectCheckpoint(checkpoint, run = this.state.run) {
    this.select({ run, checkpoint, event: null, ...this.window(checkpoint) });
  }

  selectEvent(event, run = this.state.run) {
    const at = this.runs[run].time(event);
    const { from, until } = this.state;
    const inside = at >= from && at <= until;
    const span = until - from;
    this.select({ run, event, ...(inside ? {} : { from: Math.max(0, at - span / 2), until: Math.max(0, at - span / 2) + span }) });
  }

  // What is built once ------------------------------------------------------------------------

  build() {
    const first = this.run.data;
    document.title = this.runs.map((run) => run.data.title).join(" | ");
    $("title").textContent = this.runs.map((run) => run.data.title).join(" beside ");
    $("says").textContent = first.says;
    for (const run of this.runs) {
      const texts = run.data.facts.map(([name, text]) => element("span", {}, element("b", {}, `${name} `), text));
      if (this.runs.length > 1) texts.unshift(element("span", {}, element("b", {}, run.data.title)));
      $("facts").append(element("p", { class: "facts" }, ...texts));
    }
    if (first.replay) $("replay").textContent = first.replay;
    $("replay").hidden = !first.replay;
    $("graph").replaceChildren(graphSvg(first.groups));
    $("graph-part").hidden = !first.groups.vertices.length;
    for (const part of document.querySelectorAll(".of-jobs")) part.hidden = !first.groups.job;
    $("spans").hidden = Boolean(first.groups.job);
    for (const name of new Set(first.links.map(([, , name]) => name).filter((name) => name in SPANS))) {
      const [colour, says] = SPANS[name];
      $("spans").append(element("span", {}, element("i", { class: colour }), ` ${says}`));
    }
    this.buildViolations();
    this.buildTable();
    this.canvases = this.runs.map((run, number) => {
      const canvas = element("canvas", { role: "img", tabindex: "0", "data-run": String(number) });
      const line = element("canvas", { role: "img", "data-run": String(number) });
      if (this.runs.length > 1) {
        $("lines").append(element("h3", {}, run.data.title));
        $("diagrams").append(element("h3", {}, run.data.title));
      }
      $("lines").append(line);
      $("diagrams").append(canvas);
      return { canvas, line };
    });
    $("keys").append(...KEYS.map(([keys, says]) => element("span", {}, element("kbd", {}, keys), ` ${says}`)));
    $("words").value = this.state.words;
    $("empty").hidden = this.runs.some((run) => run.data.events.length);
  }

  buildViolations() {
    this.runs.forEach((run, number) => {
      for (const one of run.data.violations) {
        const story = one.story.filter((text) => text.trim());
        const go = element("button", { type: "button", onclick: () => this.goTo(one.at, number) }, `at ${instant(one.at)}`);
        const told = story.length ? [element("pre", { tabindex: "0" }, story.join("\n"))] : [];
        const first = !$("violations").children.length;
        const part = element("details", first ? { open: "" } : {},
          element("summary", {}, `Violated: ${one.property} `, go), element("p", {}, one.says), ...told);
        $("violations").append(part);
      }
    });
    $("violations").hidden = !$("violations").children.length;
  }

  goTo(at, run) {
    const data = this.runs[run].data;
    const near = data.events.reduce((best, event, number) =>
      best === null || Math.abs(event[0] - at) < Math.abs(data.events[best][0] - at) ? number : best, null);
    const span = Math.max(1, Math.min(this.state.until - this.state.from, this.ended / 3));
    Object.assign(this.state, { from: Math.max(0, at - 0.7 * span), until: at + 0.3 * span });
    this.select({ run, event: near });
  }

  buildTable() {
    const two = this.runs.length > 1;
    const head = two
      ? ["checkpoint", ...this.runs.map((run) => run.data.title), "ratio"]
      : ["checkpoint", "status", "triggered", "took", "start delay", "alignment", "sync", "async", "in flight"];
    const rows = two
      ? compared(...this.runs).map(({ key, first, second, ratio }) => [key, "", [
        duration(first), duration(second), ratio === null ? "-" : `${Number(ratio.toPrecision(3))}`]])
      : this.run.data.checkpoints.map((row) => [row.key, row.status, [
        row.reason && row.status !== "completed" ? `${row.status}: ${row.reason}` : row.status, instant(row.at),
        duration(row.took), duration(row.start_delay_ns), duration(row.alignment_ns), duration(row.sync_ns),
        duration(row.async_ns), bytes(row.persisted_bytes)]]);
    // A column that no row fills is left out.
    const filled = head.slice(1).map((_, place) => rows.some(([, , texts]) => texts[place] !== "-"));
    $("head").replaceChildren(...head.filter((_, place) => place === 0 || filled[place - 1])
      .map((text) => element("th", { scope: "col" }, text)));
    this.rows = rows.map(([key, status, texts]) => {
      const go = element("button", { type: "button", onclick: () => this.selectCheckpoint(key) }, key);
      const cells = texts.filter((_, place) => filled[place]).map((text) => element("td", {}, text));
      const ratio = two ? Number(texts[2]) : 1;
      if (ratio > 1.1) cells.at(-1).className = "slower"; else if (ratio < 0.9) cells.at(-1).className = "faster";
      return [key, element("tr", { class: status && status !== "completed" ? "failed" : "" },
        element("th", { scope: "row" }, go), ...cells)];
    });
    $("checkpoints").replaceChildren(...this.rows.map(([, row]) => row));
    $("table-part").hidden = !this.rows.length;
  }

  // What changes with the selection -----------------------------------------------------------

  drawTexts() {
    const { checkpoint, event } = this.state;
    const row = this.run.checkpoints.get(checkpoint);
    $("selected").textContent = row ? `Checkpoint ${checkpointText(row)}` : "The whole run";
    const two = this.runs.length > 1;
    const lines = this.runs.flatMap((run) => {
      const texts = this.causeOf(run, checkpoint);
      return two ? texts.slice(0, 2).map((text, place) => place ? text : `${run.data.title}: ${text}`) : texts;
    });
    $("why").replaceChildren(...lines.map((text) => element("li", {}, text)));
    for (const [key, line] of this.rows) line.classList.toggle("chosen", key === checkpoint);
    this.drawEvent(event);
    this.drawList();
  }

  /** The lines of a checkpoint's cause; of the whole run those of its recoveries. */
  causeOf(run, checkpoint) {
    const cause = run.data.causes[checkpoint];
    if (cause) return cause.lines;
    if (run.checkpoints.has(checkpoint)) return [];
    return Object.entries(run.data.causes).filter(([name]) => name.startsWith("recovery"))
      .flatMap(([, one]) => one.lines.slice(0, 2));
  }

  drawEvent(event) {
    $("event-part").hidden = event === null;
    if (event === null) return;
    const run = this.run;
    $("event").textContent = `${instant(run.time(event))}  ${run.data.lanes[run.lane(event)]}: ${run.text(event)}`;
    const fill = (id, numbers) => $(id).replaceChildren(...numbers.slice(0, 12).map((number) => this.eventLine(number)));
    fill("causes", run.causesOf(event));
    fill("effects", run.effectsOf(event));
  }

  eventLine(number) {
    const run = this.run;
    const text = `${instant(run.time(number))}  ${run.data.lanes[run.lane(number)]}: ${run.text(number)}`;
    const made = element("li", {}, element("button", { type: "button", onclick: () => this.selectEvent(number) }, text));
    made.classList.toggle("chosen", number === this.state.event);
    made.classList.toggle("lit", Boolean(this.lit?.has(number)));
    return made;
  }

  drawList() {
    const { words, checkpoint, event, from, until } = this.state;
    const all = this.run.filtered(words, $("only").checked ? checkpoint : null);
    const within = all.filter((number) => this.run.time(number) >= from && this.run.time(number) <= until);
    const place = event === null ? 0 : Math.max(0, within.indexOf(event) - EVENTS_SHOWN / 2);
    const shown = within.slice(place, place + EVENTS_SHOWN);
    $("list").replaceChildren(...shown.map((number) => this.eventLine(number)));
    const left = this.run.data.left_out;
    const more = left ? ` This page has no room for ${left.toLocaleString("en")} more; --checkpoint N chooses others.` : "";
    $("count").textContent = `${shown.length} of ${within.length} events in the window.${more}`;
    const chosen = $("list").querySelector(".chosen");
    if (chosen) $("list").scrollTop = Math.max(0, chosen.offsetTop - $("list").clientHeight / 2);
  }

  draw() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => { this.waiting = false; this.drawNow(); });
  }

  drawNow() {
    const colours = palette(document.documentElement);
    this.boxes = this.runs.map((run, number) => {
      const { canvas, line } = this.canvases[number];
      const own = number === this.state.run;
      const view = {
        ...this.state, moving: this.moving, lane: own ? this.lane : null, event: own ? this.state.event : null, lit: own ? this.lit : null,
      };
      const width = canvas.clientWidth;
      const count = run.data.lanes.length;
      const room = Math.max(HEIGHT_LEAST, innerHeight * (this.runs.length > 1 ? 0.36 : 0.55));
      const bands = foldedBands(run.data.groups.vertices, count, this.state.open);
      const rows = laneRows(count, room - AXIS - 6, { least: bands.length ? LANE_LEAST_OPEN : LANE_LEAST, selected: view.lane, bands });
      for (const row of rows) { row.top += AXIS; row.middle += AXIS; }
      const last = rows.at(-1);
      const height = (last ? last.top + last.height : AXIS) + 6;
      run.rows = rows;
      drawDiagram(prepared(canvas, width, height), run, view, rows, { width, height, colours });
      canvas.setAttribute("aria-label", this.described(run));
      const high = timeLineHeight(run.data.checkpoints);
      const boxes = drawTimeLine(prepared(line, line.clientWidth, high), run, view, { width: line.clientWidth, height: high, colours, ended: this.ended });
      line.setAttribute("aria-label", `${run.checkpoints.size} checkpoints over ${duration(run.data.ended)}`);
      return boxes;
    });
    document.documentElement.dataset.drawn = String(Number(document.documentElement.dataset.drawn ?? 0) + 1);
  }

  described(run) {
    const { from, until } = this.state;
    return `space-time diagram of ${run.data.lanes.length} lanes from ${instant(from)} to ${instant(until)}; the list of events has its texts`;
  }

  // What people do ----------------------------------------------------------------------------

  listen() {
    addEventListener("resize", () => this.draw());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
    addEventListener("beforeprint", () => this.drawNow());
    addEventListener("hashchange", () => {
      if (location.hash === fragment(this.state)) return;
      const found = parsed(location.hash);
      const run = this.runs[found.run ?? this.state.run] ? found.run ?? this.state.run : this.state.run;
      const event = this.runs[run].data.events[found.event] ? found.event : null;
      this.select({ ...found, run, event });
    });
    addEventListener("keydown", (happened) => this.key(happened));
    $("words").addEventListener("input", () => this.select({ words: $("words").value }));
    $("only").addEventListener("change", () => this.select({}));
    $("in").addEventListener("click", () => this.zoom(0.5));
    $("out").addEventListener("click", () => this.zoom(2));
    $("all").addEventListener("click", () => this.select({ checkpoint: null, from: 0, until: this.ended * 1.02 }));
    $("back").addEventListener("click", () => this.step(-1));
    $("next").addEventListener("click", () => this.step(1));
    this.canvases.forEach(({ canvas, line }, number) => {
      canvas.addEventListener("wheel", (happened) => this.wheel(happened, canvas), { passive: false });
      canvas.addEventListener("pointerdown", (happened) => this.drag(happened, canvas, number));
      line.addEventListener("click", (happened) => this.pick(happened, line, number));
    });
  }

  zoom(factor, at = (this.state.from + this.state.until) / 2) {
    this.select(zoomed(this.state, factor, at, this.ended));
  }

  wheel(happened, canvas) {
    if (!happened.ctrlKey && !happened.shiftKey && Math.abs(happened.deltaX) <= Math.abs(happened.deltaY)) return;
    happened.preventDefault();
    if (happened.ctrlKey) {
      const at = scale(this.state, canvas.clientWidth).at(happened.offsetX);
      this.zoom(happened.deltaY > 0 ? 1.25 : 0.8, at);
    } else {
      this.select(moved(this.state, (happened.deltaX || happened.deltaY) / 800, this.ended));
    }
  }

  /** Drag moves the window; a press without moving selects what lies there. */
  drag(happened, canvas, run) {
    const start = { x: happened.clientX, from: this.state.from, until: this.state.until };
    let far = false;
    const move = (next) => {
      const by = next.clientX - start.x;
      if (Math.abs(by) < 4 && !far) return;
      far = this.moving = true;
      const share = -by / Math.max(1, canvas.clientWidth - GUTTER);
      Object.assign(this.state, moved({ from: start.from, until: start.until }, share, this.ended));
      this.draw();
    };
    const end = (last) => {
      removeEventListener("pointermove", move);
      removeEventListener("pointerup", end);
      this.moving = false;
      if (far) this.select({}); else this.press(last, canvas, run);
    };
    addEventListener("pointermove", move);
    addEventListener("pointerup", end);
  }

  press(happened, canvas, run) {
    const box = canvas.getBoundingClientRect();
    const y = happened.clientY - box.top, x = happened.clientX - box.left;
    const lane = this.runs[run].rows.findIndex((row) => y >= row.top && y < row.top + row.height);
    if (lane < 0) return;
    if (x < GUTTER && this.toggle(lane, run)) return;
    this.lane = lane;
    const at = scale(this.state, canvas.clientWidth).at(x);
    const near = x < GUTTER ? null : this.runs[run].nearest(lane, at);
    if (near === null) { this.state.event = null; this.select({ run }); this.lane = lane; this.draw(); return; }
    const key = this.runs[run].checkpointOf(near);
    this.selectEvent(near, run);
    if (key !== null && key !== this.state.checkpoint) this.select({ checkpoint: key });
  }

  /** Open or fold the vertex of a lane, where its run has many lanes; returns whether it did. */
  toggle(lane, run = this.state.run) {
    const { vertices } = this.runs[run].data.groups, count = this.runs[run].data.lanes.length;
    const [found] = foldedBands(vertices, count, []).filter((one) => one.lanes.includes(lane));
    if (!found) return false;
    const open = this.state.open.filter((name) => name !== found.name);
    this.select({ run, open: open.length < this.state.open.length ? open : [...open, found.name] });
    return true;
  }

  pick(happened, line, run) {
    const box = line.getBoundingClientRect();
    const x = happened.clientX - box.left, y = happened.clientY - box.top;
    const far = (one) => Math.max(one.left - x, x - one.left - one.width, 0) + Math.max(one.top - y, y - one.top - one.height, 0);
    const found = this.boxes[run].reduce((best, one) => best === null || far(one) < far(best) ? one : best, null);
    if (found && far(found) < 24) this.selectCheckpoint(found.key, run);
    else {
      const span = this.state.until - this.state.from;
      const at = scale({ from: 0, until: this.ended }, line.clientWidth).at(x);
      this.select({ run, from: Math.max(0, at - span / 2), until: Math.max(0, at - span / 2) + span });
    }
  }

  /** Select the event before or after, of those that the list shows. */
  step(by) {
    const shown = this.run.filtered(this.state.words, $("only").checked ? this.state.checkpoint : null);
    if (!shown.length) return;
    const { event, from } = this.state;
    let place = event === null ? shown.findIndex((number) => this.run.time(number) >= from) : shown.indexOf(event) + by;
    if (event !== null && shown.indexOf(event) < 0) place = shown.findIndex((number) => number >= event);
    this.selectEvent(shown[Math.max(0, Math.min(shown.length - 1, place))]);
  }

  stepLane(by) {
    const { event, from, until } = this.state;
    const at = event === null ? (from + until) / 2 : this.run.time(event);
    let lane = (this.lane ?? (by > 0 ? -1 : this.run.data.lanes.length)) + by;
    while (lane >= 0 && lane < this.run.data.lanes.length) {
      const near = this.run.nearest(lane, at);
      if (near !== null) { this.selectEvent(near); return; }
      lane += by;
    }
  }

  stepCheckpoint(by) {
    const keys = [...this.run.checkpoints.keys()];
    if (!keys.length) return;
    const place = keys.indexOf(this.state.checkpoint);
    this.selectCheckpoint(keys[place < 0 ? 0 : Math.max(0, Math.min(keys.length - 1, place + by))]);
  }

  key(happened) {
    if (happened.target instanceof HTMLInputElement) {
      if (happened.key === "Escape") happened.target.blur();
      return;
    }
    if (happened.ctrlKey || happened.metaKey || happened.altKey) return;
    const acts = {
      ArrowLeft: () => this.step(-1), ArrowRight: () => this.step(1),
      ArrowUp: () => this.stepLane(-1), ArrowDown: () => this.stepLane(1),
      n: () => this.stepCheckpoint(1), p: () => this.stepCheckpoint(-1),
      "+": () => this.zoom(0.5), "=": () => this.zoom(0.5), "-": () => this.zoom(2),
      a: () => this.select(moved(this.state, -0.25, this.ended)), d: () => this.select(moved(this.state, 0.25, this.ended)),
      0: () => this.select({ checkpoint: null, from: 0, until: this.ended * 1.02 }),
      o: () => this.toggle(this.lane ?? 0), f: () => $("words").focus(), Escape: () => { this.lane = null; this.select({ event: null }); },
    };
    const act = acts[happened.key];
    if (!act) return;
    happened.preventDefault();
    act();
  }
}

globalThis.page = new Page(JSON.parse($("data").textContent));
