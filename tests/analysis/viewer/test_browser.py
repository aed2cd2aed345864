"""The page of a run in a browser: selecting, stepping, addresses, narrow, dark and printed."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from ckptsim.analysis.viewer import view_of_recording, view_of_run, view_page
from ckptsim.scenarios.catalogue import by_name
from ckptsim.scenarios.files import document
from ckptsim.scenarios.links import LINKS
from ckptsim.scenarios.planning import with_parameters
from ckptsim.sim.infer.folder import place_named
from ckptsim.sim.search import Subject
from tests.analysis.report.browser import chromium, look

in_browser = pytest.mark.skipif(chromium() is None, reason="there is no Chromium on the PATH")
JS = Path(__file__).parent / "js"
PRESS = """
const press = (key) => dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
const waits = () => new Promise((done) => setTimeout(done, 60));
found.errors = []; addEventListener("error", (event) => found.errors.push(event.message));
"""


def page_of(folder: Path, *names: str) -> Path:
    """Write the page of some runs of the library."""
    path = folder / "view.html"
    documents = [view_of_run(Subject(scenario=by_name(name))) for name in names]
    path.write_text(view_page(documents), encoding="utf-8")
    return path


def acted(page: Path, script: str, *, width: int = 1280) -> dict[str, Any]:
    """Do something on a page. Return what the script has put into `found`."""
    found, console = look(page, width=width, action=PRESS + script)
    assert console == []
    assert found["errors"] == []
    return found


@in_browser
@pytest.mark.parametrize(
    "names",
    [
        ("reference",),
        ("back_pressure_aligned",),
        ("pipeline",),
        ("built_in_fallback",),
        ("broadcast_partly_finished",),
        ("back_pressure_aligned", "back_pressure_unaligned"),
    ],
)
def test_a_page_opens_without_a_message(tmp_path: Path, names: tuple[str, ...]) -> None:
    """Pages of all links, and of two runs, draw without a message, as wide as the window."""
    script = """
      found.drawn = document.documentElement.dataset.drawn;
      found.title = document.getElementById("title").textContent;
    """
    for width in (1280, 400):
        found = acted(page_of(tmp_path, *names), script, width=width)
        assert int(found["drawn"]) >= 1
        assert names[0] in found["title"]
        assert found["page"] <= found["width"] + 1


@in_browser
def test_keys_step_through_events_and_checkpoints(tmp_path: Path) -> None:
    """Arrow keys select events, n and p checkpoints, and each leaves its address."""
    script = """
      press("ArrowRight"); press("ArrowRight"); found.first = page.state.event;
      found.text = document.getElementById("event").textContent;
      found.causes = document.querySelectorAll("#causes li").length;
      press("ArrowDown"); found.lane = page.lane;
      press("n"); found.checkpoint = page.state.checkpoint;
      press("+"); await waits(); found.hash = location.hash;
      press("Escape"); found.event = page.state.event;
    """
    found = acted(page_of(tmp_path, "back_pressure_aligned"), script)
    assert found["first"] is not None
    assert "checkpoint" in found["text"]
    assert found["causes"] >= 1
    assert found["lane"] >= 1
    assert found["checkpoint"] == "2"
    assert "c=2" in found["hash"]
    assert found["event"] is None


@in_browser
def test_an_address_selects_what_it_names(tmp_path: Path) -> None:
    """A fragment selects checkpoint, event and window. One that names nothing changes nothing."""
    script = """
      location.hash = "#c=3&e=60&t=2300000000-3100000000"; await waits();
      found.state = { ...page.state };
      found.chosen = document.querySelector("tr.chosen button").textContent;
      location.hash = "#c=3&e=999999&t=5-1"; await waits(); found.after = page.state.event;
    """
    found = acted(page_of(tmp_path, "back_pressure_aligned"), script)
    assert found["state"]["checkpoint"] == "3"
    assert found["state"]["event"] == 60
    assert (found["state"]["from"], found["state"]["until"]) == (2_300_000_000, 3_100_000_000)
    assert found["chosen"] == "3"
    assert found["after"] is None


@in_browser
def test_a_click_selects_an_event_with_its_causes(tmp_path: Path) -> None:
    """A click into a lane selects its nearest event. What led to it is marked, and a button."""
    script = """
      const canvas = document.querySelector("#diagrams canvas");
      const box = canvas.getBoundingClientRect(), row = page.run.rows.at(-1);
      const at = { clientX: box.left + box.width - 60, clientY: box.top + row.middle };
      canvas.dispatchEvent(new PointerEvent("pointerdown", at));
      dispatchEvent(new PointerEvent("pointerup", at));
      found.event = document.getElementById("event").textContent; found.lit = page.lit.size;
      document.querySelector("#causes button").click();
      found.before = document.getElementById("event").textContent;
    """
    found = acted(page_of(tmp_path, "back_pressure_aligned"), script)
    assert "slow[1]" in found["event"]
    assert found["lit"] > 3
    assert found["before"] != found["event"]


@in_browser
def test_a_filter_keeps_the_events_with_its_words(tmp_path: Path) -> None:
    """The list has the events of the window that contain all words of the filter."""
    script = """
      const input = document.getElementById("words"); input.value = "slow[0] acknowledged";
      input.dispatchEvent(new Event("input")); press("0"); await waits();
      found.texts = [...document.querySelectorAll("#list button")].map((one) => one.textContent);
    """
    found = acted(page_of(tmp_path, "back_pressure_aligned"), script)
    assert len(found["texts"]) == 8
    assert all("slow[0]" in text for text in found["texts"])


COUNT = """
const calls = CanvasRenderingContext2D.prototype; let count = 0;
for (const name of ["fillRect", "lineTo", "stroke", "fill", "fillText", "arc"]) {
  const own = calls[name];
  calls[name] = function (...values) { count += 1; return own.apply(this, values); };
}
const frame = (moving) => { count = 0; page.moving = moving; page.drawNow(); return count; };
"""


@in_browser
def test_vertices_of_many_subtasks_are_folded(tmp_path: Path) -> None:
    """Of a run with many lanes a vertex is one band. A click on its name opens it, and folds it."""
    wide = {"job.vertices[source].parallelism": 40, "job.vertices[slow].parallelism": 40}
    scenario = with_parameters(by_name("back_pressure_aligned"), wide | {"job.duration": "2 s"})
    path = tmp_path / "view.html"
    path.write_text(view_page([view_of_run(Subject(scenario=scenario))]), encoding="utf-8")
    script = """
      const canvas = document.querySelector("#diagrams canvas");
      const box = canvas.getBoundingClientRect();
      const heights = () => page.run.rows.map((row) => row.height);
      const click = () => {
        const at = { clientX: box.left + 90, clientY: box.top + page.run.rows[5].middle };
        canvas.dispatchEvent(new PointerEvent("pointerdown", at));
        dispatchEvent(new PointerEvent("pointerup", at)); page.drawNow();
      };
      found.folded = heights(); click(); found.open = heights(); found.hash = location.hash;
      click(); found.again = heights();
    """
    found = acted(path, script)
    assert max(found["folded"][1:]) < 2
    assert min(found["open"][1:41]) >= 12
    assert max(found["open"][41:]) < 2
    assert found["hash"].endswith("&o=source")
    assert found["again"] == found["folded"]


@in_browser
@pytest.mark.long
def test_a_page_of_500_subtasks_is_small_and_quick(tmp_path: Path) -> None:
    """Five vertices of 100 subtasks have a page below 5 MB, and few operations in a frame."""
    names = [f"v{number}" for number in range(1, 5)]
    job = {
        "plane": "buffers",
        "duration": "11 s",
        "checkpointing": {"interval": "5 s", "first_trigger": "5 s"},
        "vertices": [
            {"name": "v0", "kind": "source", "parallelism": 100, "rate": "20000 /s"},
            *(
                {"name": name, "parallelism": 100, "service": "50 us", "state": "2 GB",
                 "inputs": [{"upstream": before, "partitioner": "hash"}]}
                for before, name in zip(["v0", *names], names, strict=False)
            ),
        ],
    }  # fmt: skip
    table = {"name": "big", "link": "barriers", "says": "five vertices", "job": job}
    scenario = document.read(table, source="big", links=LINKS)
    path = tmp_path / "view.html"
    path.write_text(view_page([view_of_run(Subject(scenario=scenario))]), encoding="utf-8")
    assert path.stat().st_size < 5_000_000
    found = acted(path, f"{COUNT} found.moving = frame(true); found.still = frame(false);")
    assert found["moving"] < 12_000
    assert found["still"] < 30_000


@in_browser
def test_a_recording_draws_bars_and_says_what_is_missing(tmp_path: Path) -> None:
    """The page of a recording says that it has no events, and draws the parts of subtasks."""
    path = tmp_path / "view.html"
    path.write_text(view_page([view_of_recording(place_named("orders"))]), encoding="utf-8")
    script = """
      found.says = document.getElementById("empty").hidden;
      const canvas = document.querySelector("#diagrams canvas"), context = canvas.getContext("2d");
      const data = context.getImageData(0, 0, canvas.width, canvas.height).data, seen = new Set();
      for (let n = 0; n < data.length; n += 4) seen.add(data.slice(n, n + 3).join());
      found.colours = seen.size;
    """
    found = acted(path, script)
    assert found["says"] is False
    assert found["colours"] > 6


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no Node.js on the PATH")
def test_modules_hold_their_tests() -> None:
    """The tests of the plain modules, in tests/analysis/viewer/js, pass in Node.js."""
    done = subprocess.run(
        ["node", "--test", *map(str, sorted(JS.glob("*.test.mjs")))],
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
