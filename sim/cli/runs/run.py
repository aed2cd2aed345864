"""`ckptsim run`: run a scenario once and say how it ended."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from pathlib import Path

from ckptsim.scenarios import UserError
from ckptsim.scenarios.composed import Pipeline
from ckptsim.scenarios.dialect import duration_text, in_units, size_text
from ckptsim.scenarios.job import Job
from ckptsim.scenarios.limits import unread
from ckptsim.scenarios.planning import FIGURES, Measure
from ckptsim.sim.answers.columns import aligned, notes_lines, paragraph
from ckptsim.sim.answers.ran import checkpoints_text, run_document
from ckptsim.sim.blame import OUTCOME_RAISED
from ckptsim.sim.cli.main import EXIT_FINE, EXIT_VIOLATED
from ckptsim.sim.cli.options import add_limit_arguments, limits_of
from ckptsim.sim.cli.places import output_file
from ckptsim.sim.cli.progress import SimulatedTime
from ckptsim.sim.cli.subject import (
    add_seed_arguments,
    add_subject_arguments,
    setting_of,
    subject_of,
    table,
    violation_texts,
)
from ckptsim.sim.kernel import Environment
from ckptsim.sim.limits import limited
from ckptsim.sim.rows import FigureRow, RecoveryRow, RunResult
from ckptsim.sim.run_spec import prefer_processes
from ckptsim.sim.search.stories import stories
from ckptsim.sim.search.trial import Subject
from ckptsim.sim.why import cause_lines, is_traced_at_ease

EXAMPLES = """examples:
  ckptsim run reference
  ckptsim run reference --seed 7 --ties random
  ckptsim run reference --set sync.sockets.count=4 --json
  ckptsim run pipeline --store out/runs.duckdb
  ckptsim run mine.toml --run-timeout "30 s" --run-memory "2 GiB"
  ckptsim run alignment_timeout --core handler=my_module:make --core coordinator=my_module:other"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    add_subject_arguments(parser)
    add_seed_arguments(parser)
    add_limit_arguments(parser, instead="ends with an error")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.add_argument(
        "--store",
        type=output_file,
        metavar="FILE",
        help="keep the run, its checkpoints and what its store held in a DuckDB file",
    )


def run(arguments: argparse.Namespace) -> int:
    """Run once, print what came of it; a violation that is not expected is exit code 1."""
    subject = subject_of(arguments)
    _check_store(arguments.store)
    model = subject.scenario.model
    explained = isinstance(model, Job) and is_traced_at_ease(model)
    kept_trace = explained or arguments.store is not None
    duration_ns = getattr(model, "duration_ns", None)
    with SimulatedTime(duration_ns) as clock, limited(limits_of(arguments)):

        def began(env: Environment) -> None:
            prefer_processes(env)
            clock.watch(env)

        result = subject.run(arguments.seed, arguments.ties, keep_trace=kept_trace, began=began)
        if result.violations:
            kept = result
            if not kept_trace:
                kept = subject.run(arguments.seed, arguments.ties, keep_trace=True)
            result.violations = stories(subject, kept)
    raised = result.run.outcome == OUTCOME_RAISED
    written = None if raised else _keep(arguments.store, result)
    print(_json(subject, result, written) if arguments.json else _text(subject, result))
    if written is not None and not arguments.json:
        count = len(written)
        print(f"\nkept in {arguments.store}: {count} partitions; `ckptsim store FILE` lists them")
    expected = subject.scenario.violates
    bad = [row for row in result.violations if row.property not in expected]
    return EXIT_VIOLATED if bad else EXIT_FINE


def _check_store(path: Path | None) -> None:
    """Refuse a place for a store before the run, not after it.

    Raises StoreFileError for a file that is no store or in use, UserError for a place without one.
    """
    if path is None:
        return
    from ckptsim.sim.store.real import RunStore, checked_path

    checked_path(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        expected = "a file in a folder that is there or can be made"
        raise UserError(
            f"--store: found {str(path)!r} ({error.strerror}), expected {expected}"
        ) from error
    if path.exists():
        RunStore(path).close()


def _keep(path: Path | None, result: RunResult) -> list[str] | None:
    """Keep a run in a store file; return the partitions that were written."""
    if path is None:
        return None
    from ckptsim.sim.store.real import RunStore

    with RunStore(path) as store:
        return [str(key) for key in store.keep(result)]


def _json(subject: Subject, result: RunResult, written: list[str] | None) -> str:
    document = run_document(subject, result)
    if written is not None:
        document["store"] = written
    return json.dumps(document, indent=1)


def _text(subject: Subject, result: RunResult) -> str:
    run, wanted = result.run, subject.scenario.goals
    reached = [f"{name} ({count})" for name, count in result.goals.items() if count]
    missed = [name for name in wanted if not result.goals.get(name)]
    lines = table(
        [
            ("scenario", f"{run.scenario} ({run.link}), seed {run.seed}, {run.ties} ties"),
            *setting_of(subject),
            ("outcome", run.outcome + (f": {in_units(run.error)}" if run.error else "")),
            ("ended at", f"{duration_text(run.ended_ns)}, after {run.attempts} attempt(s)"),
            ("records", f"{run.records_produced} produced, {run.records_committed} committed"),
            ("checkpoints", checkpoints_text(run.checkpoints_completed, result.checkpoints)),
            ("recoveries", len(result.recoveries)),
            *((row.figure, _figure(row)) for row in result.figures),
            ("reached", ", ".join(reached) or "no rare situation"),
            ("not reached", ", ".join(missed) or "nothing that the scenario asks for"),
            ("violations", len(result.violations)),
            ("run by", result.driver),
            ("digest", f"{run.digest} ({run.events} events)"),
            ("replay", run.replay),
        ]
    )
    causes = [line for one in cause_lines(subject.scenario, result) for line in paragraph(one)]
    told = ["\n".join(causes)] if causes else []
    told += [recoveries_text(result.recoveries)] if result.recoveries else []
    notes = "".join(f"\n{line}" for line in notes_lines(_notes(subject.scenario.model)))
    return "\n\n".join([lines + notes, *told, *violation_texts(result.violations)])


def _notes(model: object) -> list[str]:
    """Return which keys of a job, or of the job in a pipeline, its plane does not read."""
    if isinstance(model, Job):
        table = "job"
    elif isinstance(model, Pipeline):
        table = "pipeline"
    else:
        return []
    return [
        f'plane "{model.plane}" does not read {table}.{path}: {because}'
        for path, because in unread(model).items()
    ]


def _figure(row: FigureRow) -> str:
    metric = FIGURES[row.figure]
    told, *on_paper = (
        duration_text(round(value)) if metric.measure is Measure.TIME else f"{value:,.4g}"
        for value in (row.value, row.expected)
        if value is not None
    )
    return f"{told}: {metric.says}" + "".join(f", on paper {one}" for one in on_paper)


_LINES_MAX = 12
_HEAD = ("downtime", "bytes read", "done again", "caught up")


def recoveries_text(rows: Sequence[RecoveryRow]) -> str:
    """Return the recoveries of a run, with what each cost; of many those of a cause together."""
    head: tuple[str, ...]
    lines: list[tuple[str, ...]]
    if len(rows) <= _LINES_MAX:
        head = ("failed at", "restored from", *_HEAD, "cause")
        lines = [
            (
                duration_text(row.failed_ns),
                row.restored_from or "nothing",
                *_costs([row]),
                in_units(row.cause),
            )
            for row in rows
        ]
    else:
        head = ("recoveries", *_HEAD, "cause")
        causes = dict.fromkeys(row.cause for row in rows)
        groups = [[row for row in rows if row.cause == cause] for cause in causes]
        groups.sort(key=len, reverse=True)
        lines = [
            (f"{len(own):,}", *_costs(own), in_units(own[0].cause)) for own in groups[:_LINES_MAX]
        ]
        rest = sum(map(len, groups[_LINES_MAX:]))
        lines += [(f"{rest:,}", "", "", "", "", "other causes")] * bool(rest)
    return "\n".join(aligned(head, lines))


def _costs(rows: Sequence[RecoveryRow]) -> tuple[str, ...]:
    """Return what recoveries cost; of several the range."""
    caught_up = [None if r.caught_up_ns is None else r.caught_up_ns - r.failed_ns for r in rows]
    late = sum(r.caught_up_ns is None and r.peak_latency_ns is not None for r in rows)
    not_yet = "not by the end" if len(rows) == 1 else f"{late:,} not by the end"
    known = _range(caught_up, lambda time: f"{duration_text(time)} later")
    late_text = [not_yet] * bool(late)
    return (
        _range([_downtime_ns(row) for row in rows], duration_text),
        _range([row.bytes_read for row in rows], size_text),
        _range([row.records_reprocessed for row in rows], lambda count: f"{count:,}"),
        ", ".join([known, *late_text] if known != "-" else late_text) or "-",
    )


def _downtime_ns(row: RecoveryRow) -> int | None:
    """Return the time to the first record, or to the next attempt where that is all there is."""
    up_ns = row.resumed_ns if row.first_record_ns is None else row.first_record_ns
    return None if up_ns is None else up_ns - row.failed_ns


def _range(values: Sequence[int | None], shown: Callable[[int], str]) -> str:
    found = sorted(value for value in values if value is not None)
    if not found:
        return "-"
    low, high = shown(found[0]), shown(found[-1])
    return low if low == high else f"{low} to {high}"
