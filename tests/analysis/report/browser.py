"""A page looked at in headless Chromium: what it says on the console, and where its texts are.

Playwright drives the Chromium of this machine, so nothing is downloaded.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")

# Every text of the page that can be seen, with its box. Of a text in a figure also the figure's.
MEASURE = """async () => {
  const found = { texts: [], page: document.documentElement.scrollWidth, width: innerWidth };
  await new Promise((done) => setTimeout(done, 50));
  ACTION
  for (const svg of document.querySelectorAll("figure svg")) {
    const outer = svg.getBoundingClientRect();
    if (!outer.width) continue;
    const scale = outer.width / svg.viewBox.baseVal.width;
    for (const text of svg.querySelectorAll("text")) {
      const box = text.getBoundingClientRect();
      const turned = text.getAttribute("transform")?.match(/rotate\\((-?[0-9.]+)/);
      const [x, y] = [outer.left, outer.top];
      found.texts.push({
        figure: svg.closest("figure").id, says: text.textContent, scale,
        turned: turned ? Number(turned[1]) : 0,
        box: [box.left - x, box.top - y, box.right - x, box.bottom - y],
        outer: [outer.width, outer.height],
      });
    }
  }
  return found;
}"""
UNFOLD = 'document.querySelectorAll("details").forEach((part) => { part.open = true; });'


def chromium() -> str | None:
    """Return the path of a Chromium or Chrome on this machine, None without one."""
    return next((path for path in map(shutil.which, NAMES) if path is not None), None)


def look(page: Path, *, width: int, action: str = UNFOLD) -> tuple[dict[str, Any], list[str]]:
    """Show a page at a width and return the measured values, and what it says on the console.

    action: JavaScript that is run before, and may add to `found`.  A request to a network counts as
    said, too.
    """
    console: list[str] = []
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        tab = browser.new_page(viewport={"width": width, "height": 2000})
        tab.on("console", lambda message: console.append(message.text))
        tab.on("pageerror", lambda error: console.append(str(error)))
        tab.on("request", lambda sent: console.append(sent.url) if "http" in sent.url[:5] else None)
        tab.goto(page.as_uri())
        found: dict[str, Any] = tab.evaluate(MEASURE.replace("ACTION", action))
        browser.close()
    return found, console
