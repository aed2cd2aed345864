// The plain modules of the page: texts, layout, addresses, causes.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

const folder = new URL("../../../../analysis/templates/view/", import.meta.url);
const loaded = new Map();

/** Import a module of the page; Node takes a file ending in .js for another kind of module. */
async function module(name) {
  if (!loaded.has(name)) {
    let text = readFileSync(new URL(`${name}.js`, folder), "utf-8");
    for (const [whole, other] of text.matchAll(/from "\.\/(\w+)\.js"/g)) {
      text = text.replace(whole, `from "${await module(other)}"`);
    }
    loaded.set(name, `data:text/javascript;base64,${Buffer.from(text).toString("base64")}`);
  }
  return loaded.get(name);
}

const { duration, instant, bytes, ticks, sentence } = await import(await module("format"));
const { foldedBands, layered, packed, laneRows } = await import(await module("layout"));
const { fragment, parsed, zoomed, moved, EMPTY } = await import(await module("state"));
const { Run, compared } = await import(await module("model"));

test("times and sizes read as people write them", () => {
  assert.equal(duration(1_184_000_000), "1.18 s");
  assert.equal(duration(90e9), "1.5 min");
  assert.equal(duration(450), "450 ns");
  assert.equal(instant(6_504_200), "6.504 ms");
  assert.equal(bytes(40_000), "39.1 KiB");
  assert.equal(duration(null), "-");
});

test("an axis has round labels within its window", () => {
  const { unit, ticks: found } = ticks(302e6, 1.13e9, 8);
  assert.equal(unit, "s");
  assert.ok(found.length >= 4 && found.length <= 10);
  assert.deepEqual(found.map(({ label }) => label).slice(0, 2), ["0.4", "0.6"]);
});

test("fields of an event stand in the place of their names", () => {
  const says = "has aligned checkpoint {index} in {duration_ns} ns, {bytes} bytes meanwhile";
  assert.equal(sentence(says, ["index", "duration_ns", "bytes"], [3, 2e6, 7]), "has aligned checkpoint 3 in 2 ms, 7 bytes meanwhile");
  assert.equal(sentence("unknown", [], [1, 2]), "unknown 1 2");
});

test("a graph is laid out from left to right, and a cycle ends", () => {
  const graph = { vertices: ["a", "b", "c"].map((name) => ({ name, lanes: [] })), edges: [["a", "b"], ["b", "c"], ["a", "c"]] };
  const x = new Map(layered(graph).boxes.map((box) => [box.vertex.name, box.x]));
  assert.ok(x.get("a") < x.get("b") && x.get("b") < x.get("c"));
  layered({ ...graph, edges: [["a", "b"], ["b", "a"]] });
});

test("spans that overlap lie in rows of their own", () => {
  assert.deepEqual(packed([{ at: 0, until: 5 }, { at: 3, until: 8 }, { at: 5, until: 6 }]), [0, 1, 0]);
});

test("a selected lane is taller than others", () => {
  const rows = laneRows(100, 400, { selected: 7 });
  assert.ok(rows[7].height > rows[6].height);
  assert.equal(rows.length, 100);
});

test("vertices of many subtasks are folded into bands, unless they are open", () => {
  const lanes = (from, count) => Array.from({ length: count }, (_, n) => from + n);
  const vertices = [{ name: "a", lanes: lanes(1, 50) }, { name: "b", lanes: lanes(51, 50) }, { name: "c", lanes: [101] }];
  const bands = foldedBands(vertices, 102, ["b"]);
  assert.deepEqual(bands.map(({ name }) => name), ["a"]);
  assert.deepEqual(foldedBands(vertices, 40, []), []);
  const rows = laneRows(102, 400, { least: 12, bands });
  assert.equal(Math.round(rows[50].top + rows[50].height - rows[1].top), 64);
  assert.ok(rows[51].height >= 12);
  for (let lane = 1; lane < rows.length; lane += 1) {
    assert.ok(Math.abs(rows[lane].top - rows[lane - 1].top - rows[lane - 1].height) < 1e-6);
  }
});

test("an address names a state, and nonsense is left out", () => {
  const state = { ...EMPTY, checkpoint: "users/2@1", event: 7, from: 5, until: 90, words: "a b&c", open: ["a,b", "c"] };
  assert.deepEqual({ ...EMPTY, ...parsed(fragment(state)) }, state);
  assert.deepEqual(parsed("#e=x&t=9-1&r=7&q=%"), { words: "" });
});

test("zooming keeps its instant in place, and moving stays within the run", () => {
  const found = zoomed({ from: 0, until: 1000 }, 0.5, 500, 1000);
  assert.deepEqual(found, { from: 250, until: 750 });
  assert.deepEqual(moved({ from: 0, until: 100 }, -1, 1000), { from: 0, until: 100 });
});

const data = {
  lanes: ["coordinator", "a[0]", "b[0]"], ended: 100, parts: {}, causes: {},
  kinds: [["triggered", "triggers checkpoint {index}", ["index"]], ["barrier", "takes {index}", ["index"]]],
  events: [[0, 0, 0, 1], [10, 1, 1, 1], [50, 1, 2, 1], [60, 1, 2, 2]],
  links: [[0, 1, ""], [1, 2, ""]],
  checkpoints: [{ key: "1", id: 1, at: 0, took: 60 }, { key: "2", id: 2, at: 55, took: null }],
};

test("an event follows from all that is linked to it", () => {
  const run = new Run(data);
  assert.deepEqual([...run.past(2)].sort(), [0, 1]);
  assert.deepEqual([...run.future(0)].sort(), [1, 2]);
  assert.deepEqual(run.causesOf(3), [2]); // without a link: the event before it in its lane
  assert.equal(run.checkpointOf(3), "2");
  assert.equal(run.nearest(2, 58), 3);
  assert.deepEqual(run.filtered("b[0] takes", "1"), [2]);
});

test("two runs are compared by checkpoint", () => {
  const other = new Run({ ...data, checkpoints: [{ key: "1", id: 1, at: 0, took: 30 }] });
  assert.deepEqual(compared(new Run(data), other)[0], { key: "1", first: 60, second: 30, ratio: 0.5 });
});
