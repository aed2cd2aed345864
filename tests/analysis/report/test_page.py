"""A real sweep and its report, from the command's parts down to the page."""

from __future__ import annotations

import json
import re
from collections import Counter
from html.parser import HTMLParser
from io import StringIO
from pathlib import Path

import pandas as pd
import pytest

from ckptsim.analysis.report import PAGE, Opening, sweeps_in, write_report
from ckptsim.analysis.report.page import OPENING
from ckptsim.analysis.tables.store import SweepStore
from ckptsim.scenarios.errors import UserError
from ckptsim.scenarios.files import document
from ckptsim.sim.world import run_world
from tests.analysis.report.small import RACE, SOCKETS, sweep_here


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two small sweeps in one directory, with their report."""
    out = tmp_path_factory.mktemp("swept")
    for found in (SOCKETS, RACE):
        sweep_here(found, out)
    write_report(out)
    return out


class Page(HTMLParser):
    """Collects what a page refers to and its parts, checks that its tags are closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.ids: list[str] = []
        self.open: list[str] = []
        self.count: Counter[str] = Counter()
        self.words = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.links += [found[name] or "" for name in ("src", "href", "xlink:href") if name in found]
        self.ids += [found["id"] or ""] if "id" in found else []
        self.count[tag] += 1
        for name in (found.get("class") or "").split():
            self.count[f"{tag}.{name}"] += 1
        if tag not in ("meta", "img", "link", "br", "input"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in ("meta", "img", "link", "br", "input"):
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words += data


@pytest.fixture
def page(swept: Path) -> Page:
    return Page((swept / PAGE).read_text(encoding="utf-8"))


def test_the_page_stands_alone(page: Page) -> None:
    """Nothing is fetched from elsewhere, every tag is closed, every reference has its target."""
    assert page.open == []
    inside = [link.removeprefix("#") for link in page.links if link != "data:,"]
    assert inside
    assert set(inside) <= set(page.ids)
    assert len(page.ids) == len(set(page.ids))


def test_the_page_opens_with_questions_and_answers(page: Page, swept: Path) -> None:
    """Before anything that is folded stand the question, its answer and a headline figure."""
    text = (swept / PAGE).read_text(encoding="utf-8")
    overview = text[text.index('class="overview"') : text.index("<section")]
    assert overview.count("<a ") == 2
    assert "Do more sockets make a sync faster?" in overview
    assert "Duration of the run" in overview
    for section in text.split('<section class="sweep"')[1:]:
        first = section[: section.index("<details")]
        assert "<h2>" in first
        assert 1 <= first.count("<li>") <= 3
        assert first.count("<svg") >= 1
    assert page.count["details"] >= 8
    assert page.count["nav"] == 1


def test_the_page_has_what_a_reader_needs(page: Page) -> None:
    """Figures with captions and data, parameters, violations with stories, commands to copy."""
    assert page.count["figure"] == page.count["figcaption"] == page.count["button.csv"] >= 8
    assert page.count["svg"] == page.count["figure"]
    assert page.count["g.told"] > 20
    for words in ("Where the time of a checkpoint went", "Slowest", "sync.destination.upload_ns"):
        assert words in page.words
    assert re.search(r"ckptsim replay reference --seed \d+ --set sync.sockets.count=1", page.words)
    assert "(as this scenario is meant to show)" in page.words
    assert "ckptsim replay b16_checkpoint_race --seed" in page.words
    assert page.count["button.copy"] >= 10
    assert page.count["table.sortable"] >= 6


def test_figures_are_text_and_follow_the_style_of_the_page(swept: Path) -> None:
    """Labels are text elements. Ink, paper and font are the page's, so it can go dark."""
    text = (swept / PAGE).read_text(encoding="utf-8")
    for figure in re.findall(r"<svg.*?</svg>", text, re.DOTALL):
        assert "<text" in figure
        assert "#ffffff" not in figure.lower()
        assert "var(--ink)" in figure
        assert "font-size: " in figure
        assert "font-family" not in figure


def test_the_data_of_a_figure_are_in_the_page(swept: Path) -> None:
    """The text after the button CSV is a table with the numbers of the figure."""
    text = (swept / PAGE).read_text(encoding="utf-8")
    first = re.search(r'<script type="text/csv">(.*?)</script>', text, re.DOTALL)
    assert first is not None
    table = pd.read_csv(StringIO(first[1]))
    assert {"metric", "n", "mean", "low", "high"} <= set(table.columns)
    assert len(table) == 2


def test_violations_that_are_meant_do_not_count(swept: Path) -> None:
    """The anti-pattern breaks its property, its safeguard does not, and no tally counts it."""
    tally = SweepStore(swept / "race").tally()
    assert (tally.runs, tally.errors, tally.violated) == (40, 0, 0)
    broken = SweepStore(swept / "race").columns("violations", ["run_key"])
    assert broken


def test_a_row_repeats_as_it_says(swept: Path) -> None:
    """Running again what a row names gives its key, its digest and its command."""
    store = SweepStore(swept / "sockets")
    rows = store.columns("runs", ["run_key", "parameters", "seed", "ties", "digest", "replay"])
    points = {point["parameters"]: point for point in store.points()}
    for row in rows[::7]:
        point = points[row["parameters"]]
        again = run_world(
            document.read(json.loads(point["document"]), source="point"),
            seed=row["seed"],
            ties=row["ties"],
            parameters=row["parameters"],
            source=point["source"],
        ).run
        assert {name: getattr(again, name) for name in row} == row


def test_the_same_tables_give_the_same_page(swept: Path) -> None:
    """A report is a function of the tables, whatever order Spark reads them in."""
    pages = [write_report(swept / "race").read_bytes() for _ in range(2)]
    assert pages[0] == pages[1]


def test_a_report_begins_as_the_one_before(swept: Path) -> None:
    """What `demo` begins its report with stays when `report` writes it again. Damage is named."""
    directory = swept / "race"
    opening = Opening(anchor="mine", title="What would it do?", html="<p>It would &amp; will.</p>")
    first = write_report(directory, opening=opening).read_text()
    assert opening.html in first
    assert write_report(directory).read_text() == first
    for damaged in ('{"anchor": "mine"}', "[1]", "torn", '{"anchor": 1, "title": "", "html": ""}'):
        (directory / OPENING).write_text(damaged)
        with pytest.raises(UserError, match=r"opening\.json: found no opening"):
            write_report(directory)
    (directory / OPENING).unlink()
    assert opening.html not in write_report(directory).read_text()


def test_answers_come_before_what_a_report_opens_with(swept: Path) -> None:
    """The first screen has the questions of the sweeps and their answers, whatever follows."""
    opening = Opening(anchor="mine", title="What would it do?", html="<p>It would.</p>")
    text = write_report(swept, opening=opening).read_text(encoding="utf-8")
    (swept / OPENING).unlink()
    opened = text.index(opening.html)
    assert text.index('class="overview"') < opened < text.index('<section class="sweep" id="sweep-')


def test_a_directory_without_a_sweep_is_refused(tmp_path: Path) -> None:
    """The error says the missing part."""
    with pytest.raises(UserError, match=r"found no sweep\.json"):
        sweeps_in(tmp_path)
