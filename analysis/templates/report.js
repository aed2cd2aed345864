"use strict";
const all = (selector, root = document) => [...root.querySelectorAll(selector)];

// Values at a pointer or at the keyboard's focus.
const tip = document.createElement("div");
tip.id = "tip"; tip.hidden = true; tip.setAttribute("role", "status");
document.body.append(tip);
function showTip(mark, x, y) {
  tip.textContent = mark.dataset.says; tip.hidden = false;
  const box = tip.getBoundingClientRect();
  tip.style.left = Math.max(4, Math.min(x + 12, innerWidth - box.width - 4)) + "px";
  tip.style.top = Math.max(4, y - box.height - 10) + "px";
}
document.addEventListener("pointermove", (event) => {
  const mark = event.target.closest?.(".told");
  if (mark) showTip(mark, event.clientX, event.clientY); else tip.hidden = true;
});
document.addEventListener("click", (event) => {
  const mark = event.target.closest?.(".told");
  if (mark) showTip(mark, event.clientX, event.clientY);
});

// Copying, with a way that works for a page that is opened as a file.
async function copy(text) {
  try { await navigator.clipboard.writeText(text); } catch {
    const area = document.createElement("textarea");
    area.value = text; document.body.append(area); area.select();
    document.execCommand("copy"); area.remove();
  }
}
all("button.copy").forEach((button) => button.addEventListener("click", async () => {
  await copy(button.parentElement.querySelector("code").textContent);
  button.textContent = "copied"; setTimeout(() => { button.textContent = "copy"; }, 1500);
}));

// Figures as data and as a picture.
function save(name, url) {
  const link = document.createElement("a");
  link.href = url; link.download = name; document.body.append(link); link.click(); link.remove();
}
const nameOf = (figure, ending) => figure.id + ending;
all("button.csv").forEach((button) => button.addEventListener("click", () => {
  const figure = button.closest("figure");
  const text = figure.querySelector("script[type='text/csv']").textContent.trim() + "\n";
  save(nameOf(figure, ".csv"), URL.createObjectURL(new Blob([text], { type: "text/csv" })));
}));
// A picture outside of the page knows no variables of its style sheet: they are written out.
function standalone(svg) {
  const style = getComputedStyle(document.documentElement);
  const copied = svg.cloneNode(true);
  const [, , width, height] = svg.getAttribute("viewBox").split(" ").map(Number);
  copied.setAttribute("width", width); copied.setAttribute("height", height);
  copied.insertAdjacentHTML("afterbegin",
    `<style>text { fill: var(--ink); font-family: var(--figure-font); }</style><rect width="100%" height="100%" fill="var(--paper)"/>`);
  const text = new XMLSerializer().serializeToString(copied)
    .replace(/var\((--[a-z-]+)\)/g, (_, name) => style.getPropertyValue(name).trim().replaceAll('"', "'"));
  return { text, width, height };
}
function toPng(svg) {
  const { text, width, height } = standalone(svg);
  return new Promise((resolve, reject) => {
    const image = new Image();
    image.onerror = reject;
    image.onload = () => {
      const canvas = document.createElement("canvas");
      canvas.width = 2 * width; canvas.height = 2 * height;
      canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
      resolve(canvas.toDataURL("image/png"));
    };
    image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(text);
  });
}
all("button.png").forEach((button) => button.addEventListener("click", async () => {
  const figure = button.closest("figure");
  save(nameOf(figure, ".png"), await toPng(figure.querySelector("svg")));
}));

// Tables: sorted by a click on a heading, filtered by words.
const valueOf = (row, index) => {
  const cell = row.cells[index];
  return cell.dataset.value === undefined ? cell.textContent.trim() : Number(cell.dataset.value);
};
function sortBy(head, index) {
  const table = head.closest("table"), body = table.tBodies[0];
  const down = head.getAttribute("aria-sort") === "ascending";
  all("th", table).forEach((other) => other.removeAttribute("aria-sort"));
  head.setAttribute("aria-sort", down ? "descending" : "ascending");
  const order = (a, b) => typeof a === "number" && typeof b === "number" ? a - b
    : String(a).localeCompare(String(b), "en", { numeric: true });
  const rows = [...body.rows].sort((a, b) => order(valueOf(a, index), valueOf(b, index)) * (down ? -1 : 1));
  body.append(...rows);
}
all("table.sortable th").forEach((head) => head.querySelector("button")
  ?.addEventListener("click", () => sortBy(head, head.cellIndex)));
all("input[type=search]").forEach((input) => input.addEventListener("input", () => {
  const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
  all("tbody tr", input.closest(".part")).forEach((row) => {
    const text = row.textContent.toLowerCase();
    row.hidden = !words.every((word) => text.includes(word));
  });
}));

// An anchor in a folded part opens it; the contents show where one is.  What is open is printed.
function unfold() {
  const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let at = target; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
  if (target) target.scrollIntoView();
}
addEventListener("hashchange", unfold); unfold();
const places = new Map(all("nav a").map((link) => [link.getAttribute("href").slice(1), link]));
const watcher = new IntersectionObserver((entries) => entries.forEach((entry) => {
  if (!entry.isIntersecting) return;
  places.forEach((link) => link.classList.remove("here"));
  places.get(entry.target.id)?.classList.add("here");
}), { rootMargin: "0px 0px -70% 0px" });
all("section.sweep").forEach((section) => watcher.observe(section));
