"""Conformance vectors and Airbyte messages from Python."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from ckptsim._api.frames import frame_of
from ckptsim._api.jobs import paths_of
from ckptsim._api.plots import Plots, bars
from ckptsim._api.result import Facts, Result
from ckptsim.scenarios.errors import UserError
from ckptsim.sim.answers import conforming, ordered
from ckptsim.sim.conform.runner import VectorOutcome, suites_of
from ckptsim.sim.order import BatchRules, Summary
from ckptsim.sim.slots import Factory
from ckptsim.sim.slots.resolve import read_cores

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

_Cores: TypeAlias = Mapping[str, Factory | str] | Sequence[str] | str


class CountPlots(Plots):
    """A bar for each count."""

    __slots__ = ("_counts", "_label")

    def __init__(self, counts: Mapping[str, int], label: str) -> None:
        self._counts, self._label = counts, label

    def __call__(self, *, ax: Axes | None = None) -> Axes:
        """Draw a bar for each count."""
        return bars(list(self._counts), list(self._counts.values()), self._label, ax)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Conformance(Result):
    """What became of every conformance vector."""

    found: conforming.Conformance

    @property
    def passed(self) -> bool:
        """Whether the core follows every vector that was run."""
        return not self.found.failed

    @property
    def outcomes(self) -> Sequence[VectorOutcome]:
        """The outcome of every vector, in the order of the files."""
        return self.found.outcomes

    def frame(self) -> pd.DataFrame:
        """Return one row per vector: suite, name, outcome, and where it and the core part."""
        columns = ("suite", "name", "outcome", "step", "expected", "found")
        return frame_of([_row(one) for one in self.outcomes], columns)

    def to_dict(self) -> dict[str, Any]:
        """Return the outcomes, as `ckptsim conform --json` prints them, and the counts."""
        return {
            "outcomes": [asdict(one) for one in self.outcomes],
            "passed": self.found.passed,
            "failed": self.found.failed,
            "skipped": self.found.skipped,
        }

    @property
    def plot(self) -> Plots:
        """How many vectors passed, failed and were skipped."""
        found = self.found
        counts = {"passed": found.passed, "failed": found.failed, "skipped": found.skipped}
        return CountPlots(counts, "vectors")

    def _facts(self) -> Facts:
        failed = [one for one in self.outcomes if one.mismatch is not None]
        cores = ", ".join(f"{slot}={name}" for slot, name in self.found.choice.names.items())
        return [
            ("core", cores or self.found.choice.mutant or "ours"),
            ("vectors", self.found.counts()),
            *((one.name, f"at {one.mismatch.step}") for one in failed[:6] if one.mismatch),
        ]


def conform(
    files: str | Path | Sequence[str | Path],
    *,
    core: _Cores | None = None,
    mutant: str | None = None,
    ignore: Sequence[str] = (),
) -> Conformance:
    """Run conformance vectors against a protocol core.

    files: vectors, one a line.  core: slot -> factory of a core of yours, or what names one;
    mutant: a faulty core of ours.  ignore: vectors, or properties of the ordering core, that are
    not judged.

    Raises UserError for a line that is no vector, and for cores that none of the files is about.
    """
    paths = paths_of(files)
    cores: Mapping[str, Factory | str] | None = None
    if isinstance(core, Mapping):
        cores = core
    elif core is not None:
        cores = read_cores([core] if isinstance(core, str) else list(core), suites_of(paths))
    found = conforming.conform(paths, cores=cores, mutant=mutant, ignore=ignore)
    if found.problems:
        raise UserError("\n".join(found.problems))
    return Conformance(found=found)


def _row(one: VectorOutcome) -> dict[str, Any]:
    mismatch = one.mismatch
    outcome = "failed" if mismatch else "passed" if one.skipped is None else "skipped"
    return {
        "suite": one.suite,
        "name": one.name,
        "outcome": outcome,
        "step": None if mismatch is None else mismatch.step,
        "expected": None if mismatch is None else mismatch.expected,
        "found": one.skipped if mismatch is None else mismatch.found,
    }


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Ordered(Result):
    """The states that were released, as lines, and what came and went of each stream."""

    lines: Sequence[str]
    summary: Summary

    @property
    def complete(self) -> bool:
        """Whether every state was released."""
        return self.summary.failure is None

    @property
    def states(self) -> list[dict[str, Any]]:
        """The released states as JSON data, in the order of their release."""
        return [json.loads(line) for line in self.lines]

    def frame(self) -> pd.DataFrame:
        """Return one row per stream: records and states, read and released."""
        rows = [{"stream": str(s), **asdict(one)} for s, one in self.summary.streams.items()]
        return frame_of(rows, ("stream",))

    def to_dict(self) -> dict[str, Any]:
        """Return what `ckptsim order --json` prints."""
        return ordered.summary_document(self.summary)

    @property
    def plot(self) -> Plots:
        """How many states of each stream were released."""
        counts = {str(s): one.states_sent for s, one in self.summary.streams.items()}
        return CountPlots(counts, "released states")

    def _facts(self) -> Facts:
        summary = self.summary
        states = f"{summary.states_read:,} read, {summary.states_sent:,} released"
        records = f"{summary.records_read:,} read, {summary.records_committed:,} committed"
        return [
            ("messages", f"{summary.messages:,}"),
            ("records", f"{records} in {summary.batches:,} batches"),
            ("states", states),
            ("streams", len(summary.streams)),
            ("failure", summary.failure or "none"),
        ]


def order(
    messages: str | Path | Iterable[str | bytes],
    *,
    medium: str = "stdio",
    catalog: str | Path | None = None,
    batch_records: int | None = None,
    batch_age: int | None = None,
    batch_delay: int | None = None,
) -> Ordered:
    """Order the states of Airbyte messages as a destination does.

    messages: the path of a file of JSON lines, or the lines.  medium: "stdio" or "socket".
    catalog: the path of a configured catalog; without it streams are learnt as they come.
    batch_records, batch_age, batch_delay: records of a full batch, messages until a batch is too
    old, messages that an upload takes.

    Raises UserError for a line that is no message, and for a file that cannot be read.
    """
    if medium not in ("stdio", "socket"):
        raise UserError(f'medium: found {medium!r}, expected "stdio" or "socket"')
    given = {
        "batch_records": batch_records,
        "batch_age_messages": batch_age,
        "upload_delay_messages": batch_delay,
    }
    lines: list[str] = []
    summary = ordered.order(
        _lines(messages),
        lines.append,
        medium=medium,
        catalog=None if catalog is None else Path(catalog),
        rules=BatchRules(**{name: value for name, value in given.items() if value is not None}),
    )
    return Ordered(lines=lines, summary=summary)


def _lines(messages: str | Path | Iterable[str | bytes]) -> Iterator[bytes]:
    if isinstance(messages, str | Path):
        try:
            with Path(messages).open("rb") as source:
                yield from source
        except OSError as error:
            raise UserError(f"{messages}: cannot be read: {error.strerror}") from error
        return
    for line in messages:
        yield line if isinstance(line, bytes) else line.encode()
