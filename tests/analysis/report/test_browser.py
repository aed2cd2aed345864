"""The page in a browser: nothing on the console, nothing cut off, nothing on top of another."""

from __future__ import annotations

import re
import subprocess
from collections import defaultdict
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

import ckptsim as ck
from ckptsim.analysis.report import PAGE
from tests.analysis.report.browser import UNFOLD, chromium, look
from tests.analysis.report.small import write_small_report

pytestmark = [
    pytest.mark.skipif(chromium() is None, reason="there is no Chromium on the PATH"),
]
SLACK = 1.5  # pixels. Browsers round where text begins


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of three small sweeps: a sync, a job with barriers, an anti-pattern."""
    return write_small_report(tmp_path_factory.mktemp("swept")) / PAGE


@pytest.mark.parametrize("width", [1400, 800, 400])
def test_no_label_is_cut_off_or_covered(page: Path, tmp_path: Path, width: int) -> None:
    """At each width all texts of all figures are inside of them and apart from each other."""
    found, console = look(page, width=width)
    assert console == []
    assert found["page"] <= found["width"], "the page is wider than the window"
    figures: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for text in found["texts"]:
        figures[text["figure"]].append(text)
    assert len(figures) >= 12
    for texts in figures.values():
        for text in texts:
            left, top, right, bottom = text["box"]
            assert left >= -SLACK, text
            assert top >= -SLACK, text
            assert right <= text["outer"][0] + SLACK, text
            assert bottom <= text["outer"][1] + SLACK, text
        for one, other in combinations(texts, 2):
            assert not overlap(one, other), (one, other)


def overlap(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Return whether two upright texts have more than their edges in common."""
    if one["turned"] % 90 or other["turned"] % 90:
        return False  # boxes of tilted texts are wider than they are: see the tests of figures
    (a, b, c, d), (e, f, g, h) = one["box"], other["box"]
    slack = SLACK + 1.5 * one["scale"]  # a box has room above and below its letters
    return a + slack < g and e + slack < c and b + slack < h and f + slack < d


def test_letters_can_be_read_on_a_narrow_screen(page: Path, tmp_path: Path) -> None:
    """At 400 pixels the labels of headline figures are at least 7 pixels high."""
    found, _ = look(page, width=400)
    heads = [text for text in found["texts"] if "-answer-" in text["figure"]]
    assert heads
    assert min(8 * text["scale"] for text in heads) >= 7


def test_the_page_of_variants_can_be_read_on_a_narrow_screen(tmp_path: Path) -> None:
    """At 400 pixels the page of `whatif` is no wider, draws the job, and keeps numbers whole."""
    names = (
        "execution.checkpointing.aligned-checkpoint-timeout",
        "taskmanager.memory.segment-size",
    )
    found = ck.whatif("orders", set=dict(zip(names, ("1 s", "16 kb"), strict=True)), seeds=1)
    (tmp_path / "variants.html").write_text(found.page(), encoding="utf-8")
    action = """
    const cells = [...document.querySelectorAll("td + td")];
    found.boxes = document.querySelectorAll(".graph .vertex").length;
    found.bars = [...document.querySelectorAll(".bars i")].map((bar) => bar.clientWidth);
    found.lines = cells.map((cell) => {
      const range = document.createRange(); range.selectNodeContents(cell);
      return range.getClientRects().length;
    });"""
    shown, console = look(tmp_path / "variants.html", width=400, action=action)
    assert console == []
    assert shown["page"] <= shown["width"]
    assert shown["boxes"] == 4
    assert max(shown["bars"]) > 100
    assert set(shown["lines"]) <= {0, 1}


def test_buttons_do_what_they_say(page: Path, tmp_path: Path) -> None:
    """Tables sort and filter, a pointer finds values, and copies are as shown."""
    action = f"""
    {UNFOLD}
    const table = document.querySelector("table.sortable"), body = table.tBodies[0];
    const head = [...table.tHead.rows[0].cells].find((cell) => cell.textContent === "median");
    const cells = () => [...body.rows].map((row) => row.cells[head.cellIndex]);
    const values = () => cells().map((cell) => Number(cell.dataset.value));
    head.querySelector("button").click(); found.up = values();
    head.querySelector("button").click(); found.down = values();
    const input = document.querySelector("input[type=search]");
    const rows = [...input.closest(".part").querySelectorAll("tbody tr")];
    input.value = rows[0].cells[0].textContent; input.dispatchEvent(new Event("input"));
    found.rows = rows.length; found.left = rows.filter((row) => !row.hidden).length;
    const mark = document.querySelector(".told");
    const at = {{ bubbles: true, clientX: 200, clientY: 200 }};
    mark.dispatchEvent(new PointerEvent("pointermove", at));
    found.tip = document.getElementById("tip").textContent;
    found.png = (await toPng(document.querySelector("figure svg"))).slice(0, 22);
    window.copy = async (text) => {{ found.copied = text; }};
    const command = document.querySelector("button.copy"); command.click();
    found.command = command.parentElement.querySelector("code").textContent;
    const blobs = [], made = URL.createObjectURL;
    URL.createObjectURL = (blob) => {{ blobs.push(blob); return made.call(URL, blob); }};
    window.save = (name) => {{ found.saved = name; }};
    const figure = document.querySelector("figure"); figure.querySelector("button.csv").click();
    found.csv = await blobs[0].text(); found.figure = figure.id;
    found.data = figure.querySelector("script[type='text/csv']").textContent;
    document.querySelectorAll("details").forEach((part) => {{ part.open = false; }});
    const link = [...document.querySelectorAll("nav ul ul a")][1];
    location.hash = link.getAttribute("href"); await new Promise((done) => setTimeout(done, 50));
    found.opened = document.getElementById(link.getAttribute("href").slice(1)).open;
    found.sticky = getComputedStyle(document.querySelector("nav")).position;
    """
    found, console = look(page, width=1400, action=action)
    assert console == []
    assert found["up"] == sorted(found["up"])
    assert found["down"] == sorted(found["up"], reverse=True)
    assert len(set(found["up"])) > 1
    assert 0 < found["left"] < found["rows"]
    assert "n = " in found["tip"]
    assert found["png"] == "data:image/png;base64,"
    assert found["copied"] == found["command"] != ""
    assert found["saved"] == found["figure"] + ".csv"
    assert found["csv"].strip() == found["data"].strip() != ""
    assert found["opened"] is True
    assert found["sticky"] == "sticky"


def test_a_printed_report_is_short(page: Path, tmp_path: Path) -> None:
    """Folded parts are not printed: a report of three sweeps has few pages."""
    program = chromium()
    assert program is not None
    out = tmp_path / "report.pdf"
    options = ("--headless", "--no-sandbox", "--disable-gpu", f"--print-to-pdf={out}")
    profile = f"--user-data-dir={tmp_path / 'profile'}"
    subprocess.run([program, *options, profile, page.as_uri()], check=True, capture_output=True)
    assert len(re.findall(rb"/Type\s*/Page[^s]", out.read_bytes())) <= 15
