"""One self-contained HTML page from the tables of one or several sweeps."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ckptsim.analysis.answers import cliff_sentences
from ckptsim.analysis.report.section import compared, section
from ckptsim.analysis.report.slowest import cause_at
from ckptsim.analysis.report.view import View, layout_seen, seen
from ckptsim.analysis.summaries import Summaries, is_current, read, refresh
from ckptsim.analysis.tables.store import ABOUT, SweepStore
from ckptsim.analysis.templates import GRAPHS, rendered, script, style, template
from ckptsim.scenarios.errors import UserError
from ckptsim.scenarios.files import written_whole

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PAGE = "report.html"
OPENING = "opening.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """What a report begins with before its sweeps. html: made by this program, shown as it is.

    figure: the figure that says most, figure_of: what it is of, says: why.  graph: of the job, as
    JSON.
    """

    anchor: str
    title: str
    html: str
    figure: str = ""
    figure_of: str = ""
    says: str = ""
    graph: str = ""


def sweeps_in(directory: Path) -> list[SweepStore]:
    """Return the sweep in a directory, or those in its sub-directories by name.

    Raises UserError when there is none.
    """
    if (directory / ABOUT).is_file():
        return [SweepStore(directory)]
    found = sorted(path.parent for path in directory.glob(f"*/{ABOUT}"))
    if not found:
        raise UserError(f"{directory}: found no {ABOUT}, expected the directory of a sweep")
    return [SweepStore(path) for path in found]


def write_report(
    directory: Path,
    session: SparkSession | None = None,
    *,
    view: View | None = None,
    begins: Callable[[str], None] | None = None,
    opening: Opening | None = None,
) -> Path:
    """Write the report of the sweeps in a directory there, and return its path.

    session: aggregates the sweeps that have rows which no summary has. One is started where it is
    not given, and only then.
    view: which metrics, points and parameter are shown, and to what they are compared.
    begins: called with the name of each sweep, and with what takes long.  opening: is before them.
    It is kept beside them, and later reports begin with it, too. Raises UserError when a directory
    holds no sweep, or one without a run, and ScenarioError for a view of unknown points.
    """
    view = view or View()
    view.check()
    others = {} if view.compare is None else _by_plan(view.compare)
    sections = []
    says = begins or _nothing
    with ExitStack() as opened:

        def summaries(store: SweepStore) -> Summaries:
            nonlocal session
            if not is_current(store):
                store.pieces()  # damage is reported before Spark starts
                says(f"aggregating the rows of {store.directory} on Spark")
                if session is None:
                    from ckptsim.analysis.spark.session import spark_session

                    session = opened.enter_context(spark_session())
                refresh(session, store)
            return read(store)

        for store in sweeps_in(directory):
            says(str(store.swept()["plan"]))
            found = seen(summaries(store), view)
            plan = str(found.about["plan"])
            if plan in others:
                other = seen(summaries(others[plan]), view)
                sections.append(compared(found, other, str(others[plan].directory)))
            elif view.compare is not None:
                raise UserError(f"--compare: found no sweep of {plan} in {view.compare}")
            cliffs = cliff_sentences(found, store, partial(cause_at, found))
            sections.append(section(found, layout_seen(found, view), cliffs))
    opening, path = _kept(directory, opening), directory / PAGE
    questions = len(sections) + (opening is not None)
    one = questions == 1
    title = f"Sweep {sections[0]['name']}" if one else f"{questions} questions, answered"
    written_whole(path, page(title, sections, opening))
    return path


def _nothing(_: str) -> None:
    """Say nothing."""


def _kept(directory: Path, opening: Opening | None) -> Opening | None:
    """Keep what a report begins with, or return what an earlier one began with.

    Raises UserError for a file that holds something else.
    """
    path = directory / OPENING
    if opening is not None:
        written_whole(path, json.dumps(asdict(opening)))
    elif path.is_file():
        try:
            opening = Opening(**json.loads(path.read_text(encoding="utf-8")))
        except (TypeError, ValueError, RecursionError):
            opening = None
        if opening is None or not all(isinstance(part, str) for part in asdict(opening).values()):
            expected = "what `ckptsim demo` has written; remove it for a report without"
            raise UserError(f"{path}: found no opening of a report, expected {expected}")
    return opening


def _by_plan(directory: Path) -> dict[str, SweepStore]:
    """Return the sweeps in a directory by the names of their plans."""
    return {str(store.swept()["plan"]): store for store in sweeps_in(directory)}


def page(title: str, sections: Sequence[dict[str, Any]], opening: Opening | None = None) -> str:
    """Return the page as HTML text, with its style and its script inside."""
    return rendered(
        "report.html",
        title=title,
        sweeps=sections,
        opening=opening,
        style=style("report"),
        script=f"{script(GRAPHS)}drawGraphs();\n{template('report.js')}",
    )
