"""Read measured runs: one JSON object per line, with configuration, jobs and what was measured."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scenarios.errors import UserError

# How the measured runs were made, for lines that do not say: completed checkpoints and warm-up.
_CHECKPOINTS = 14
_WARMUP = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredJob:
    """One job of a measured run.

    summary, finish: as measured, None where the job has none.  first_trigger_ms: the phase of the
    periodic trigger, which Flink draws at random.  checkpoints, warmup: how long was measured.
    source_ends_ms: per source, when its last subtask ended.  All times count from submission, and
    running_ms is when all tasks ran.
    """

    running_ms: int
    first_trigger_ms: int | None
    checkpoints: int
    warmup: int
    source_ends_ms: Mapping[str, int]
    summary: Mapping[str, Any] | None
    finish: Mapping[str, Any] | None
    throughput: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredRun:
    """One line."""

    run_id: str
    cell_id: str
    family: str
    config: Mapping[str, Any]
    jobs: tuple[MeasuredJob, ...]

    @property
    def mode(self) -> str:
        """The checkpoint mode."""
        return str(self.config["checkpoint"]["mode"])

    @property
    def bounded(self) -> bool:
        """Whether every source ends."""
        return all(source.get("stops_after_ms") is not None for source in self.config["sources"])


def read_runs(paths: Sequence[Path]) -> list[MeasuredRun]:
    """Read all lines of all files, in order.

    Raises UserError for a file that cannot be read and for a line that is not in the schema.
    """
    found = []
    for path in paths:
        for number, line in _lines(path):
            where = f"{path}:{number}"
            try:
                entry = json.loads(line)
            except json.JSONDecodeError as error:
                raise UserError(f"{where}: found no JSON ({error}), expected a run") from error
            try:
                found.append(_run(entry))
            except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
                raise UserError(
                    f"{where}: not in the schema of measured runs: {_words(error)}"
                ) from error
    if not found:
        raise UserError("no measured run in " + ", ".join(str(path) for path in paths))
    return found


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: cannot be read as measured runs: {error}") from error
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip():
            yield number, line


def _words(error: Exception) -> str:
    if isinstance(error, KeyError):
        return f"found no key {error.args[0]!r}"
    return f"{type(error).__name__}: {error}"


def _run(entry: Mapping[str, Any]) -> MeasuredRun:
    config = entry["config"]
    for key in ("sources", "operators", "checkpoint", "storage", "placement"):
        if key not in config:
            raise KeyError(f"config.{key}")
    if not config["sources"] or not config["operators"]:
        raise ValueError("found a job without sources or operators")
    config["checkpoint"]["mode"]
    run_id = str(entry["run_id"])
    return MeasuredRun(
        run_id=run_id,
        cell_id=str(entry.get("cell_id", run_id)),
        family=str(entry.get("family", "-")),
        config=config,
        jobs=tuple(_job(job) for job in entry.get("jobs", ())) or (_no_job(),),
    )


def _job(job: Mapping[str, Any]) -> MeasuredJob:
    checkpoints = job.get("checkpoints", ())
    completed = [c for c in checkpoints if c.get("status") == "COMPLETED"]
    finish = job.get("finish")
    ends = (finish or {}).get("source_end_of_data_ms", {})
    return MeasuredJob(
        running_ms=int(job.get("running_ms", 0)),
        first_trigger_ms=int(checkpoints[0]["trigger_ms"]) if checkpoints else None,
        checkpoints=len(completed) or _CHECKPOINTS,
        warmup=sum(1 for c in completed if c.get("warmup")) if completed else _WARMUP,
        source_ends_ms={name: int(max(times)) for name, times in ends.items()},
        summary=job.get("summary"),
        finish=finish,
        throughput=job.get("throughput"),
    )


def _no_job() -> MeasuredJob:
    return MeasuredJob(
        running_ms=0,
        first_trigger_ms=None,
        checkpoints=_CHECKPOINTS,
        warmup=_WARMUP,
        source_ends_ms={},
        summary=None,
        finish=None,
        throughput=None,
    )
