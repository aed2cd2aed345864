// The graph of a job as SVG: vertices from left to right, with how they spend their time.

import { layered } from "./layout.js";

const percent = (share) => `${Math.round(100 * share)} %`;

/** The graph; vertices have a name, lanes, and where it is known their busy and pressed shares. */
export function graphSvg(graph) {
  const { boxes, edges, width, height } = layered(graph);
  const make = (name, attributes, text) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
    if (text !== undefined) made.textContent = text;
    return made;
  };
  const svg = make("svg", {
    viewBox: `-2 -2 ${width + 4} ${height + 4}`, style: `max-width: ${width + 4}px; min-width: ${Math.min(width, 420)}px`, role: "img",
    "aria-label": `job graph: ${boxes.map((box) => box.vertex.name).join(", ")}`,
  });
  for (const edge of edges) svg.append(make("path", { d: edge.path, class: "edge" }));
  for (const { vertex, x, y, width: w, height: h } of boxes) {
    const group = make("g", { transform: `translate(${x} ${y})` });
    group.append(make("rect", { width: w, height: h, rx: 5, class: "vertex" }));
    const name = vertex.name.length > 19 ? `${vertex.name.slice(0, 18)}…` : vertex.name;
    group.append(make("text", { x: 9, y: 20, class: "name" }, name));
    const { busy, pressed } = vertex;
    const load = busy === undefined ? "" : `busy ${percent(busy)}, pressed ${percent(pressed)}`;
    const count = vertex.subtasks ?? vertex.lanes.length;
    group.append(make("text", { x: 9, y: 37, class: "load" }, load || (vertex.lanes ? `${count} lane` : `${count} subtask`) + (count === 1 ? "" : "s")));
    if (busy !== undefined) {
      const parts = [[pressed, "pressed"], [busy, "busy"], [Math.max(0, 1 - busy - pressed), "idle"]];
      let left = 0;
      for (const [share, kind] of parts) {
        group.append(make("rect", { x: left * w, y: h - 6, width: Math.max(0, Math.min(1, share) * w), height: 6, class: kind }));
        left = Math.min(1, left + share);
      }
    }
    group.append(make("title", {}, `${vertex.name}: ${count} subtask${count === 1 ? "" : "s"}. ${load}`));
    svg.append(group);
  }
  return svg;
}

/** Draw the graphs that a page has as data. */
export function drawGraphs() {
  for (const place of document.querySelectorAll("[data-graph]")) {
    place.replaceChildren(graphSvg(JSON.parse(place.dataset.graph)));
  }
}
