"""Conformance vectors and Airbyte messages: what came of them, and the verbs that run them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ckptsim._api.columns import frame_of, ran_with
from ckptsim._api.result import CountPlots, Facts, Result
from ckptsim.models import ordering
from ckptsim.scenarios.errors import UserError
from ckptsim.sim.conform.runner import (
    VectorOutcome,
    check_ignored,
    choose,
    declined,
    run_file,
    suites_of,
)
from ckptsim.sim.order import BatchRules, Destination, Summary, read_catalog
from ckptsim.sim.slots.resolve import Choice, read_cores, try_out

if TYPE_CHECKING:
    import pandas as pd

    from ckptsim._api.subject import Cores

_FAILED_SHOWN = 6


def paths_of(files: str | Path | Sequence[str | Path]) -> list[Path]:
    """Return one path or several as a list."""
    return [Path(files)] if isinstance(files, str | Path) else [Path(one) for one in files]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Conformance(Result):
    """The outcome of every vector. choice: cores that are not ours. problems: odd lines."""

    outcomes: Sequence[VectorOutcome]
    choice: Choice
    problems: Sequence[str] = ()

    @property
    def passed(self) -> bool:
        """Whether the core follows every vector that was run."""
        return not self.failed

    @property
    def failed(self) -> bool:
        """Whether the core does not follow a vector."""
        return bool(self.counts["failed"])

    @property
    def counts(self) -> dict[str, int]:
        """How many vectors passed, failed and were skipped."""
        found = Counter(_row(one)["outcome"] for one in self.outcomes)
        return {name: found[name] for name in ("passed", "failed", "skipped")}

    def frame(self) -> pd.DataFrame:
        """Return one row per vector: suite, name, outcome, and where it and the core part."""
        columns = ("suite", "name", "outcome", "step", "expected", "found")
        return frame_of([_row(one) for one in self.outcomes], columns)

    def to_dict(self) -> dict[str, Any]:
        """Return the outcomes, as `ckptsim conform --json` prints them, and the counts."""
        return {"outcomes": [asdict(one) for one in self.outcomes], **self.counts}

    @property
    def plot(self) -> CountPlots:
        """How many vectors passed, failed and were skipped."""
        return CountPlots(self.counts, "vectors")

    @property
    def text(self) -> str:
        """The vectors that did not pass, then the counts."""
        return "\n".join([*filter(None, map(outcome_text, self.outcomes)), self.closing])

    @property
    def closing(self) -> str:
        """The cores that are not ours, the calls that were left out, and the counts."""
        lines = [f"{what} {name}" for what, name in ran_with(self.choice.names, self.choice.mutant)]
        left_out = dict.fromkeys(name for one in self.outcomes for name in one.left_out)
        if left_out:
            vectors = sum(1 for one in self.outcomes if one.left_out)
            names = ", ".join(left_out)
            lines.append(f"left out of {vectors} vectors, since no host asks it: {names}")
        return "\n".join([*lines, self._counted])

    @property
    def _counted(self) -> str:
        return ", ".join(f"{n} {name}" for name, n in self.counts.items() if n or name != "skipped")

    def _facts(self) -> Facts:
        failed = [one for one in self.outcomes if one.mismatch is not None]
        cores = ", ".join(f"{slot}={name}" for slot, name in self.choice.names.items())
        return [
            ("core", cores or self.choice.mutant or "ours"),
            ("vectors", self._counted),
            *(
                (one.name, f"at {one.mismatch.step}")
                for one in failed[:_FAILED_SHOWN]
                if one.mismatch
            ),
        ]


def outcome_text(one: VectorOutcome) -> str:
    """Return a line for a vector that failed or was skipped. Nothing for one that passed."""
    if one.skipped is not None:
        return f"skipped {one.name}: {one.skipped}"
    if one.mismatch is None:
        return ""
    found = one.mismatch
    return f"FAILED {one.name} at {found.step}: expected {found.expected}, found {found.found}"


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


def conform(
    files: str | Path | Sequence[str | Path],
    *,
    core: Cores | None = None,
    mutant: str | None = None,
    ignore: Sequence[str] = (),
) -> Conformance:
    """Run conformance vectors against a protocol core.

    files: vectors, one a line.  core: slot -> factory of a core of yours, or what names one.
    mutant: a faulty core of ours.  ignore: vectors, or properties of the ordering core, that are
    not judged.

    Raises UserError for a line that is no vector, and for cores that none of the files is about.
    """
    found = conformance(paths_of(files), core=core, mutant=mutant, ignore=ignore)
    if found.problems:
        raise UserError("\n".join(found.problems))
    return found


def conformance(
    files: Sequence[Path],
    *,
    core: Cores | None = None,
    mutant: str | None = None,
    ignore: Sequence[str] = (),
    ran: Callable[[VectorOutcome], object] = id,
) -> Conformance:
    """Run the vectors of every file. ran: called with each outcome. Raises UserError."""
    if not isinstance(core, Mapping):
        texts = [core] if isinstance(core, str) else list(core or ())
        core = read_cores(texts, suites_of(files)) if texts else {}
    choice = Choice()
    if core or mutant is not None:
        choice = choose(files, cores=core, mutant=mutant)
        try_out({slot: one for slot, one in core.items() if isinstance(one, str)}, fenced=False)
    check_ignored(files, ignore)
    outcomes: list[VectorOutcome] = []
    problems: list[str] = []
    for path in files:
        try:
            for found in run_file(path, choice=choice):
                outcomes.append(declined(found, ignore))
                ran(outcomes[-1])
        except UserError as error:  # the other files still say what they have to say
            problems += [line for line in str(error).splitlines() if line not in problems]
    return Conformance(outcomes=outcomes, problems=problems, choice=choice)


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
    def failed(self) -> bool:
        """Whether a state was not released."""
        return not self.complete

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
        summary = self.summary
        names = ("messages", "records_read", "records_committed", "states_read")
        return {
            **{name: getattr(summary, name) for name in names},
            "states_released": summary.states_sent,
            "batches": summary.batches,
            "counts_differing": summary.counts_differing,
            "streams": [
                {"name": stream.name, "namespace": stream.namespace, **asdict(found)}
                for stream, found in summary.streams.items()
            ],
            "source_errors": summary.source_errors,
            "failure": None if summary.failure is None else _failure(summary.failure),
        }

    @property
    def plot(self) -> CountPlots:
        """How many states of each stream were released."""
        counts = {str(s): one.states_sent for s, one in self.summary.streams.items()}
        return CountPlots(counts, "released states")

    @property
    def text(self) -> str:
        """The counts, a row per stream, and the verdict."""
        summary = self.summary
        rows: list[tuple[str, ...]] = [
            ("stream", "records", "committed", "states", "released", "status")
        ]
        for stream, one in summary.streams.items():
            counts = (one.records_read, one.records_committed, one.states_read, one.states_sent)
            rows.append((str(stream), *map(str, counts), one.status or "-"))
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        read = f"{summary.messages} messages: {summary.records_read} records, "
        sent = f"{summary.states_read} states; {summary.states_sent} states released, "
        committed = f"{summary.records_committed} records committed in {summary.batches} batches"
        lines = [read + sent + committed]
        lines += ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
        if summary.counts_differing:
            lines.append(
                f"{summary.counts_differing} states count other records than the source said"
            )
        lines += [f"the source reported an error: {error}" for error in summary.source_errors]
        return "\n".join(lines if self.complete else [*lines, f"FAILED: {summary.failure}"])

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


def _failure(failure: Any) -> dict[str, object]:
    return {
        "kind": failure.kind,
        "incomplete": [str(stream) for stream in failure.incomplete],
        "blocked": [_blocked(one) for one in failure.blocked],
    }


def _blocked(blocked: ordering.Blocked) -> dict[str, object]:
    short = blocked.shortfall
    return {
        "scope": ordering.scope_text(blocked.scope),
        "next_index": blocked.next_index,
        "lowest_index": blocked.lowest,
        "pending": blocked.pending,
        "obstacle": blocked.obstacle.name.lower(),
        "expected": None if short is None else short.expected,
        "found": None if short is None else short.found,
        "says": str(blocked),
    }


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
    catalog: the path of a configured catalog. Without it streams are learnt as they come.
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
    rules = BatchRules(**{name: value for name, value in given.items() if value is not None})
    lines: list[str] = []
    return ordered(messages, lines, lines.append, medium=medium, catalog=catalog, rules=rules)


def ordered(
    messages: str | Path | Iterable[str | bytes],
    lines: Sequence[str],
    emit: Callable[[str], None],
    *,
    medium: str,
    catalog: str | Path | None,
    rules: BatchRules,
) -> Ordered:
    """Order the states of messages, each released to `emit`. lines: those that the result has."""
    travelled = ordering.Medium[medium.upper()]
    streams = None if catalog is None else read_catalog(Path(catalog))
    core = ordering.make_core(ordering.OrderingParameters(medium=travelled, streams=streams or ()))
    destination = Destination(core, travelled, rules, emit, catalog=streams)
    for number, line in enumerate(_lines(messages), start=1):
        destination.read(line, number)
    return Ordered(lines=lines, summary=destination.finish())


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
