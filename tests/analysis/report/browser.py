"""A page looked at in headless Chromium: what it says on the console, and where its texts are.

Chromium is driven by its command line alone: a script measures in a copy of the page, in a frame of
the wanted width. The values are read from the document that Chromium prints.
"""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")

# Every text of the page that can be seen, with its box. Of a text in a figure also the figure's.
MEASURE = """
addEventListener("load", () => setTimeout(async () => {
  const found = { texts: [], page: document.documentElement.scrollWidth, width: innerWidth };
  ACTION
  for (const svg of document.querySelectorAll("figure svg")) {
    const outer = svg.getBoundingClientRect();
    if (!outer.width) continue;
    const scale = outer.width / svg.viewBox.baseVal.width;
    for (const text of svg.querySelectorAll("text")) {
      const box = text.getBoundingClientRect();
      const turned = text.getAttribute("transform")?.match(/rotate\\\\((-?[0-9.]+)/);
      const [x, y] = [outer.left, outer.top];
      found.texts.push({
        figure: svg.closest("figure").id, says: text.textContent, scale,
        turned: turned ? Number(turned[1]) : 0,
        box: [box.left - x, box.top - y, box.right - x, box.bottom - y],
        outer: [outer.width, outer.height],
      });
    }
  }
  parent.postMessage(JSON.stringify(found), "*");
}, 50));
"""
FRAME = """<!doctype html><title>frame</title><pre id="found"></pre>
<iframe src="{page}" style="width: {width}px; height: 20000px; border: 0"></iframe>
<script>addEventListener("message", (event) => {{
  document.getElementById("found").textContent = event.data; }});</script>"""
UNFOLD = 'document.querySelectorAll("details").forEach((part) => { part.open = true; });'


def chromium() -> str | None:
    """Return the path of a Chromium or Chrome on this machine, None without one."""
    return next((path for path in map(shutil.which, NAMES) if path is not None), None)


def look(
    page: Path, directory: Path, *, width: int, action: str = UNFOLD
) -> tuple[dict[str, Any], list[str]]:
    """Show a page at a width and return the measured values, and the lines of the console.

    action: JavaScript that is run before, and may add to `found`.
    """
    program = chromium()
    if program is None:
        raise RuntimeError("there is no Chromium")
    copy, frame = directory / "copy.html", directory / "frame.html"
    script = MEASURE.replace("\\\\", "\\").replace("ACTION", action)
    text = page.read_text(encoding="utf-8")
    copy.write_text(text.replace("</body>", f"<script>{script}</script></body>"), encoding="utf-8")
    frame.write_text(FRAME.format(page=copy.name, width=width), encoding="utf-8")
    done = subprocess.run(
        [
            program, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
            "--hide-scrollbars", "--window-size=1600,2000", "--virtual-time-budget=20000",
            f"--user-data-dir={directory / 'profile'}", "--dump-dom", frame.as_uri(),
        ],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    console = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    told = re.search(r'<pre id="found">(.*?)</pre>', done.stdout, re.DOTALL)
    if told is None or not told[1]:
        raise RuntimeError(f"the page measured nothing: {done.stderr[-2000:]}")
    return json.loads(html.unescape(told[1])), console
