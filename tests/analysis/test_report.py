"""A real sweep and its report, from the command's parts down to the page."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from ckptsim.analysis.plan import about_sweep, sweep_rows
from ckptsim.analysis.report import PAGE, sweeps_in, write_report
from ckptsim.analysis.store import SweepStore
from ckptsim.analysis.sweep import run_sweep
from ckptsim.scenarios import document
from ckptsim.scenarios.errors import UserError
from ckptsim.scenarios.grid import plan_from
from ckptsim.sim.world import run_world

pytestmark = pytest.mark.spark
SOCKETS = {
    "name": "sockets",
    "says": "how many sockets a sync needs",
    "scenario": "reference",
    "replications": 5,
    "ties": ["structural", "random"],
    "grid": {"sync.sockets.count": [1, 2]},
}
RACE = {
    "name": "race",
    "says": "an anti-pattern beside its safeguard",
    "scenario": "b16_checkpoint_race",
    "replications": 20,
    "ties": ["random"],
    "grid": {"scenario": ["b16_checkpoint_race", "b16_checkpoint_locked"]},
}


@pytest.fixture(scope="module")
def swept(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two small sweeps in one directory, with their report."""
    out = tmp_path_factory.mktemp("swept")
    for found in (SOCKETS, RACE):
        plan = plan_from(found, source="test")
        rows = sweep_rows(plan)
        store = SweepStore(out / plan.name)
        store.open(about_sweep(plan, rows))
        store.write_points(rows)
        run_sweep(spark, rows, store, partitions=4)
    write_report(out)
    return out


class Page(HTMLParser):
    """Collects what a page refers to, checks that its tags are closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.open: list[str] = []
        self.words = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.links += [value or "" for name, value in attrs if name in ("src", "href")]
        if tag not in ("meta", "img", "link", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words += data


@pytest.fixture
def page(swept: Path) -> Page:
    return Page((swept / PAGE).read_text(encoding="utf-8"))


def test_the_page_stands_alone(page: Page) -> None:
    """Nothing is fetched from elsewhere, and every tag is closed."""
    assert page.open == []
    assert page.links
    assert all(link.startswith(("data:image/svg+xml;base64,", "#sweep-")) for link in page.links)


def test_the_page_has_what_a_reader_needs(page: Page) -> None:
    """Figures, parameters, violations with stories, outliers with commands."""
    pictures = [link for link in page.links if link.startswith("data:")]
    assert len(pictures) >= 8
    for words in ("Where the time of a checkpoint went", "Outliers", "sync.destination.upload_ns"):
        assert words in page.words
    assert re.search(r"ckptsim replay reference --seed \d+ --set sync.sockets.count=1", page.words)
    assert "(as this scenario is meant to show)" in page.words
    assert "ckptsim replay b16_checkpoint_race --seed" in page.words


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


def test_a_directory_without_a_sweep_is_refused(tmp_path: Path) -> None:
    """The error says what is missing."""
    with pytest.raises(UserError, match=r"found no sweep\.json"):
        sweeps_in(tmp_path)
