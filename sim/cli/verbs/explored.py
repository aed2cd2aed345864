"""What an exploration has shown, as a document and as text, and where it is kept."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ckptsim._api.columns import setting_of, table, violation_texts
from ckptsim._api.runs.ran import setting_document
from ckptsim.scenarios import UserError, canonical_json
from ckptsim.scenarios.dialect import shown
from ckptsim.scenarios.files import written_whole
from ckptsim.sim.cli.options import default_folder
from ckptsim.sim.fingerprint import version_of_exploring
from ckptsim.sim.rows import ViolationRow
from ckptsim.sim.search.explore import Corpus, Explored, Explorer
from ckptsim.sim.search.explore.explore import (
    CHOICE_MAX,
    ExploreReport,
    Progress,
    is_choices,
    progress_of,
)
from ckptsim.sim.why.find import why_violation


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A violation, shrunk and written: its row, its run before, and the scenario in its folder."""

    row: ViolationRow
    before: Explored
    seed: int
    ties: str
    shrinking_runs: int
    file: Path | None


@dataclass(frozen=True, slots=True, kw_only=True)
class OfLink:
    """What came of one link or scenario. continued_at: the run after an interrupt, or 0."""

    explorer: Explorer
    report: ExploreReport
    found: Sequence[Found]
    continued_at: int = 0


def document_of(one: OfLink) -> dict[str, Any]:
    """Return what `--json` prints of one link."""
    explorer, report = one.explorer, one.report
    subject, *_ = explorer.subject(())
    return {
        "link": explorer.link,
        "scenario": None if explorer.scenario is None else explorer.scenario.name,
        **setting_document(subject),
        "runs": report.runs,
        "continued_at": one.continued_at,
        "seconds": round(report.seconds, 3),
        "events": report.events,
        "passed": not report.violating,
        "outcomes": report.outcomes,
        "violations": [
            asdict(each.row)
            | {
                "run": each.before.number,
                "because": why_violation(each.row, "").because,
                "seed": each.seed,
                "ties": each.ties,
                "shrinking_runs": each.shrinking_runs,
                "file": None if each.file is None else str(each.file),
            }
            for each in one.found
        ],
        "hazards": report.hazards,
        "listed": report.listed,
        "goals": report.goals,
        "coverage": {
            "reached": len(report.covered),
            "last_new": report.last_new,
            "last_new_run": report.covered.get(report.last_new),
        },
        "digest": report.digest,
    }


def document_of_all(documents: Sequence[dict[str, Any]], links: Sequence[OfLink]) -> dict[str, Any]:
    """Return what `--json` prints of all links. In `coverage` is what any of them reached."""
    names = ("outcomes", "hazards", "listed", "goals")
    sums = {name: dict(_sum(one[name] for one in documents)) for name in names}
    return {
        "runs": sum(one["runs"] for one in documents),
        "seconds": round(sum(one["seconds"] for one in documents), 3),
        "events": sum(one["events"] for one in documents),
        "passed": all(one["passed"] for one in documents),
        "violations": [each for one in documents for each in one["violations"]],
        **sums,
        "coverage": {"reached": len({name for one in links for name in one.report.covered})},
        "links": documents,
    }


def _sum(counts: Iterable[dict[str, int]]) -> Counter[str]:
    found: Counter[str] = Counter()
    for each in counts:
        found.update(each)
    return found


def text_of(one: OfLink, document: dict[str, Any]) -> str:
    """Return the text of one link."""
    report, coverage = one.report, document["coverage"]
    reached = [name for name, runs in report.goals.items() if runs]
    missed = [name for name, runs in report.goals.items() if not runs]
    rate = report.runs / report.seconds if report.seconds else 0.0
    new = f"{coverage['last_new']} in run {coverage['last_new_run']}" if report.covered else "none"
    began = f", continued at {one.continued_at}" if one.continued_at else ""
    pairs: list[tuple[str, object]] = [
        ("explored", one.explorer.name),
        *setting_of(one.explorer.subject(())[0]),
        ("runs", f"{report.runs} in {report.seconds:.1f} s, {rate:.0f} per second{began}"),
        ("outcomes", ", ".join(f"{count} {name}" for name, count in report.outcomes.items())),
        ("reached", f"{coverage['reached']} situations"),
        ("last new", new),
        ("goals", f"{len(reached)} of {len(report.goals)} reached"),
        ("not reached", ", ".join(missed) or "none"),
        ("violations", f"{len(report.violating)} run(s)" if report.violating else "none"),
        ("digest", report.digest),
    ]
    if report.hazards:
        known = ", ".join(f"{name} in {runs}" for name, runs in report.hazards.items())
        pairs.insert(-2, ("hazards", f"known ones of released systems: {known}"))
    if report.listed:
        text = ", ".join(f"{name} in {runs}" for name, runs in report.listed.items())
        pairs.insert(-2, ("listed", f"broken by scenarios of the library that say so: {text}"))
    pairs += [
        ("written", f"{each.file.parent}, shrunk in {each.shrinking_runs} runs")
        for each in one.found
        if each.file is not None
    ]
    pairs += [("cause", why_violation(each.row, "").because) for each in one.found]
    return "\n\n".join([*violation_texts(each.row for each in one.found), table(pairs)])


def text_of_all(document: dict[str, Any]) -> str:
    """Return the text after the links: how much all of them reached together."""
    return table(
        [
            ("explored", "all"),
            ("runs", f"{document['runs']} in {document['seconds']:.1f} s"),
            ("reached", f"{document['coverage']['reached']} situations"),
        ]
    )


OUT = Path("out", "explore")
SAVE_S = 10.0  # an assumption: how much a process that is killed may lose


class Kept:
    """The files of one exploration.

    folder: where corpus and progress are kept. None: nowhere, and what failed is in `OUT`.
    refused: the first file that could not be written. Exploring continues without it. Progress with
    a core of the user's is not kept: no one knows whether it is still the same one.
    """

    def __init__(self, folder: Path | None, explorer: Explorer, *, seed: int) -> None:
        name = explorer.name
        self.corpus_file = None if folder is None else folder / f"{name}.jsonl"
        self._progress_file = None if folder is None else folder / f"{name}.progress.json"
        if explorer.cores or explorer.judging.properties:
            self._progress_file = None
        self._failed_file = (folder or OUT) / f"{name}.failed.jsonl"
        self._is_default = folder is None
        self._explorer = explorer
        self._seed = seed
        self._saved_s = time.monotonic()
        self.refused: OSError | None = None

    @property
    def goes_on(self) -> bool:
        """Return whether an exploration that was interrupted continues where it was."""
        return self._progress_file is not None

    def begin(self) -> tuple[Corpus, Progress]:
        """Return the kept corpus and progress. Raises UserError for a foreign file."""
        corpus = Corpus([] if self.corpus_file is None else _lists_of(self.corpus_file))
        document = self._document()
        length = len(corpus.entries)
        # Written after the corpus: what this has beyond it will be found once more.
        if document is None or document["corpus"] > length:
            return corpus, Progress(begun_with=length)
        del corpus.entries[document["corpus"] :]
        try:
            return corpus, progress_of(document, self._explorer)
        except (ValueError, KeyError, TypeError) as error:
            raise self._damaged() from error

    def failed(self) -> Corpus:
        """Return the runs that broke a property the last time."""
        return Corpus(_lists_of(self._failed_file))

    def _document(self) -> dict[str, Any] | None:
        path = self._progress_file
        if path is None or not path.exists():
            return None
        try:
            document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
            same = document["of"] == self._identity()
            length = document["corpus"]
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            raise self._damaged() from error
        if type(length) is not int or length < 0:
            raise self._damaged()
        return document if same else None

    def _damaged(self) -> UserError:
        expected = "expected what an interrupted exploration has left; remove it to begin anew"
        return UserError(f"{self._progress_file}: found no such document, {expected}")

    def _identity(self) -> dict[str, object]:
        explorer, scenario = self._explorer, self._explorer.scenario
        ignored = explorer.judging.ignore
        subject, *_ = explorer.subject(())
        return {
            "seed": self._seed,
            "scenario": None if scenario is None else canonical_json(scenario),
            "mutant": explorer.mutant,
            **({"ignore": list(ignored)} if ignored else {}),
            "version": version_of_exploring(subject.scenario.world),
        }

    def save(self, corpus: Corpus, so_far: Progress) -> None:
        """Write corpus and progress, each as a whole."""
        with self.writing():
            if self.corpus_file is not None:
                _write(self.corpus_file, corpus.entries)
            if self._progress_file is not None:
                document = {"of": self._identity(), **so_far.document(len(corpus.entries))}
                written_whole(self._progress_file, json.dumps(document) + "\n")
        self._saved_s = time.monotonic()

    def save_sometimes(self, corpus: Corpus, so_far: Progress) -> None:
        """Write them when they were not written for some time."""
        if time.monotonic() - self._saved_s > SAVE_S:
            self.save(corpus, so_far)

    def save_failed(self, report: ExploreReport) -> None:
        """Write the choices of the runs that broke a property."""
        path = self._failed_file
        with self.writing():
            if self._is_default:
                path = default_folder(path.parent) / path.name
            _write(path, [each.choices for each in report.violating])

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Note a file that cannot be written: a violation is named before it, and is worth more."""
        try:
            yield
        except OSError as error:
            self.refused = self.refused or error

    def finish(self) -> None:
        """Forget how far exploring has come: it is over."""
        if self._progress_file is not None:
            self._progress_file.unlink(missing_ok=True)


def _lists_of(path: Path) -> list[tuple[int, ...]]:
    """Return a file's lists of choices, None where there is no file. Raises UserError."""
    if not path.exists():
        return []
    found: list[tuple[int, ...]] = []
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "no text in UTF-8"
        raise UserError(f"{path}: found {reason}, expected one array in each line") from error
    for number, line in enumerate(lines, start=1):
        try:
            choices = json.loads(line)
        except (ValueError, RecursionError):
            choices = None
        if not is_choices(choices):
            expected = f"expected an array of whole numbers from 0 to {CHOICE_MAX}"
            raise UserError(f"{path}, line {number}: found {shown(line)}, {expected}")
        found.append(tuple(choices))
    return found


def _write(path: Path, lists: Sequence[Sequence[int]]) -> None:
    text = "".join(json.dumps(list(each), separators=(",", ":")) + "\n" for each in lists)
    written_whole(path, text)
