// Where things lie: the graph of a job, rows of a time line, lanes of a diagram.

const BAND = 64; // pixels of a vertex whose lanes are folded
const FOLDED_FROM = 60, FOLDED_LANES = 8; // lanes of a run, and of a vertex

/** Boxes of a graph from left to right: a column is the longest way from a vertex without inputs. */
export function layered(graph, { width = 176, height = 52, gapX = 56, gapY = 18 } = {}) {
  const names = graph.vertices.map((vertex) => vertex.name);
  const column = new Map(names.map((name) => [name, 0]));
  for (let round = 0; round < names.length; round += 1) {
    for (const [from, to] of graph.edges) {
      if (!column.has(from) || !column.has(to)) continue;
      const next = Math.min(names.length - 1, column.get(from) + 1);
      if (next > column.get(to) && from !== to) column.set(to, next);
    }
  }
  const used = [...new Set(column.values())].sort((a, b) => a - b);
  const rows = new Map(), boxes = new Map();
  const most = Math.max(1, ...used.map((c) => names.filter((n) => column.get(n) === c).length));
  const total = most * (height + gapY) - gapY;
  for (const vertex of graph.vertices) {
    const place = used.indexOf(column.get(vertex.name));
    const count = names.filter((name) => column.get(name) === column.get(vertex.name)).length;
    const row = rows.get(place) ?? 0;
    rows.set(place, row + 1);
    const top = (total - (count * (height + gapY) - gapY)) / 2;
    boxes.set(vertex.name, {
      vertex, x: place * (width + gapX), y: top + row * (height + gapY), width, height,
    });
  }
  const edges = graph.edges.flatMap(([from, to]) => {
    const [a, b] = [boxes.get(from), boxes.get(to)];
    if (!a || !b) return [];
    const start = [a.x + a.width, a.y + a.height / 2], end = [b.x, b.y + b.height / 2];
    const bend = Math.max(20, Math.abs(end[0] - start[0]) / 2);
    return [{ from, to, path: `M${start} C${start[0] + bend},${start[1]} ${end[0] - bend},${end[1]} ${end}` }];
  });
  const right = Math.max(0, ...[...boxes.values()].map((box) => box.x + box.width));
  return { boxes: [...boxes.values()], edges, width: right, height: total };
}

/** Rows of spans that overlap; each span has `at` and `until`. */
export function packed(spans) {
  const free = [];
  return spans.map((span) => {
    let row = free.findIndex((until) => until <= span.at);
    if (row < 0) row = free.length;
    free[row] = span.until;
    return row;
  });
}

/**
 * Tops and heights of lanes in a height; a selected lane is taller, all are at least `least`.
 * bands: groups of lanes that are folded into one band each, in which every lane keeps its share.
 */
export function laneRows(count, height, { least = 5, most = 38, tall = 40, selected = null, bands = [] } = {}) {
  const band = new Map(bands.flatMap((one) => one.lanes.map((lane) => [lane, one])));
  const chosen = selected !== null && !band.has(selected);
  const single = count - band.size;
  const room = height - bands.length * BAND - (chosen ? tall : 0);
  const even = Math.max(least, Math.min(most, room / Math.max(1, single)));
  let top = 0;
  return Array.from({ length: count }, (_, lane) => {
    const own = band.has(lane) ? BAND / band.get(lane).lanes.length : chosen && lane === selected ? Math.max(even, tall) : even;
    const row = { top, height: own, middle: top + own / 2, band: band.get(lane) ?? null };
    top += own;
    return row;
  });
}

/** The vertices that are folded: those of many subtasks of a run with many lanes, unless opened. */
export function foldedBands(vertices, count, open) {
  if (count <= FOLDED_FROM) return [];
  return vertices.filter(({ name, lanes }) => lanes.length > FOLDED_LANES && !open.includes(name));
}
