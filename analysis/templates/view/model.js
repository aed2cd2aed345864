// One run: its events by lane and checkpoint, and what led to what.

import { sentence } from "./format.js";

export class Run {
  /** data: what the Python function `document` returns. */
  constructor(data) {
    this.data = data;
    this.times = Float64Array.from(data.events, ([at]) => at);
    this.byLane = data.lanes.map(() => []);
    this.byCheckpoint = new Map();
    this.causes = data.events.map(() => []);
    this.effects = data.events.map(() => []);
    this.indexField = data.kinds.map(([, , names]) => names.indexOf("index"));
    this.scopeField = data.kinds.map(([, , names]) => names.indexOf("scope"));
    this.checkpoints = new Map(data.checkpoints.map((row) => [row.key, row]));
    this.again = new Map(); // key without its attempt -> the checkpoints of all attempts
    for (const row of data.checkpoints) {
      const [key] = row.key.split("@");
      this.again.set(key, [...(this.again.get(key) ?? []), row]);
    }
    this.keys = data.events.map((_, number) => this.keyOf(number));
    data.events.forEach((event, number) => {
      this.byLane[event[2]].push(number);
      const key = this.keys[number];
      if (key === null) return;
      if (!this.byCheckpoint.has(key)) this.byCheckpoint.set(key, []);
      this.byCheckpoint.get(key).push(number);
    });
    for (const [cause, effect] of data.links) {
      this.causes[effect].push(cause);
      this.effects[cause].push(effect);
    }
    this.arrows = data.links.filter(([cause, effect]) => this.lane(cause) !== this.lane(effect));
  }

  time(number) { return this.times[number]; }
  lane(number) { return this.data.events[number][2]; }
  kind(number) { return this.data.kinds[this.data.events[number][1]][0]; }
  field(number, place) { return this.data.events[number][3 + place]; }

  /** The key of the checkpoint that an event is about, null of one that is about none. */
  checkpointOf(number) { return this.keys[number]; }

  keyOf(number) {
    const [at, kind, , ...fields] = this.data.events[number];
    const index = fields[this.indexField[kind]], scope = fields[this.scopeField[kind]];
    if (typeof index !== "number") return null;
    const rows = this.again.get(typeof scope === "string" ? `${scope}/${index}` : String(index));
    if (!rows) return null;
    return (rows.findLast((row) => row.at <= at) ?? rows[0]).key;
  }

  text(number) {
    const [, kind, , ...fields] = this.data.events[number];
    const [, says, names] = this.data.kinds[kind];
    return sentence(says, names, fields);
  }

  /** What led to an event: links, or the event before it in its lane. */
  causesOf(number) {
    return this.causes[number].length ? this.causes[number] : this.neighbour(number, -1);
  }

  effectsOf(number) {
    return this.effects[number].length ? this.effects[number] : this.neighbour(number, 1);
  }

  neighbour(number, step) {
    const lane = this.byLane[this.lane(number)];
    const other = lane[lane.indexOf(number) + step];
    return other === undefined ? [] : [other];
  }

  /** All events that an event follows from, at most `most`, as a set. */
  past(number, most = 400) { return this.cone(number, (one) => this.causes[one], most); }
  future(number, most = 400) { return this.cone(number, (one) => this.effects[one], most); }

  cone(number, next, most) {
    const found = new Set(), waiting = [number];
    while (waiting.length && found.size < most) {
      for (const one of next(waiting.shift())) {
        if (!found.has(one)) { found.add(one); waiting.push(one); }
      }
    }
    return found;
  }

  /** The events that a filter lets through: words in lane or text, or a checkpoint. */
  filtered(words, checkpoint = null) {
    const asked = words.toLowerCase().split(/\s+/).filter(Boolean);
    const own = checkpoint === null ? null : new Set(this.byCheckpoint.get(checkpoint) ?? []);
    return this.data.events.flatMap((event, number) => {
      if (own && !own.has(number)) return [];
      if (!asked.length) return [number];
      const text = `${this.data.lanes[event[2]]} ${this.kind(number)} ${this.text(number)}`;
      return asked.every((word) => text.toLowerCase().includes(word)) ? [number] : [];
    });
  }

  /** From when until when a checkpoint is looked at, with some room on both sides. */
  window(key) {
    const row = this.checkpoints.get(key);
    if (!row) return [0, Math.max(1, this.data.ended)];
    const own = (this.byCheckpoint.get(key) ?? []).map((number) => this.time(number));
    const parts = (this.data.parts[key] ?? []).map((part) => row.at + (part[6] ?? 0));
    const last = Math.max(row.at + (row.took ?? 0), ...parts, own.length ? Math.max(...own) : 0);
    const room = Math.max(1, (last - row.at) * 0.06);
    return [Math.max(0, row.at - room), last + room];
  }

  /** The place in a lane of its first event from an instant on. */
  after(lane, at) {
    const own = this.byLane[lane];
    let low = 0, high = own.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.times[own[middle]] < at) low = middle + 1; else high = middle;
    }
    return low;
  }

  /** The event nearest to an instant in a lane, null where there is none. */
  nearest(lane, at) {
    const own = this.byLane[lane], low = this.after(lane, at);
    const near = [own[low - 1], own[low]].filter((one) => one !== undefined);
    if (!near.length) return null;
    return near.reduce((a, b) => Math.abs(this.time(b) - at) < Math.abs(this.time(a) - at) ? b : a);
  }
}

/** Checkpoints of two runs by number: durations of both, and by what factor they differ. */
export function compared(first, second) {
  const keys = [...new Set([...first.checkpoints.keys(), ...second.checkpoints.keys()])];
  return keys.sort((a, b) => Number(a) - Number(b)).map((key) => {
    const [a, b] = [first, second].map((run) => run.checkpoints.get(key)?.took ?? null);
    return { key, first: a, second: b, ratio: a && b ? b / a : null };
  });
}
