"""The keys of a sweep plan's file, and the metrics of a run.

A plan names those that answer its question. Result tables and reports use the same names. `FIGURES`
are the metrics that a link computes by itself. The others follow from the tables.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import partial

from ckptsim.scenarios.dialect import BAD, At, Choice, Entry, Flag, Kind, Many, Text
from ckptsim.scenarios.fields import REQUIRED, name_kind, whole
from ckptsim.scenarios.planning.vary import is_path


class Measure(StrEnum):
    """What a metric measures: the base unit of its values is the one of the result tables."""

    TIME = "ns"
    SIZE = "bytes"
    SHARE = "share"  # 0 to 1, written as a percentage
    COUNT = "count"


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """One value of a run.

    says: what it is, without its unit. less_is_better: None where neither way is better by itself.
    of_whole: a part of a whole, so neither below 0 nor above 1.
    """

    says: str
    measure: Measure
    less_is_better: bool | None = True
    of_whole: bool = False


_time = partial(Metric, measure=Measure.TIME)
_size = partial(Metric, measure=Measure.SIZE)
_share = partial(Metric, measure=Measure.SHARE)
_count = partial(Metric, measure=Measure.COUNT)

FIGURES: Mapping[str, Metric] = {
    "undone_per_crash": _count(says="records undone by a crash"),
    "lost_per_crash": _count(says="records lost by a crash"),
    "forced_checkpoints": _count(says="checkpoints that a message forced"),
    "discarded_checkpoints": _count(says="stored checkpoints that a restart went back past"),
    "logged_messages": _count(says="messages written to logs"),
    "sync_share": _share(says="share of the working time that durability takes"),
    "lost_share": _share(says="working time lost to syncs and crashes, per useful time"),
    "dictionary_ns": _time(says="time for dictionaries: copies written and read, or fetches"),
    "endpoint_wait_ns": _time(says="95th percentile of a client's time to fetch a dictionary"),
    "endpoint_longest_ns": _time(says="longest time of a client to fetch a dictionary"),
    "endpoint_queue": _count(says="most requests that waited for the endpoint at once"),
    "endpoint_refused": _count(says="requests that the endpoint refused"),
    "write_amplification": _count(says="in-flight buffers written per buffer sent"),
    "files_opened": _count(says="files of channel state opened per restore"),
    "pieces_read": _count(says="reads of pieces of channel state per restore"),
    "in_flight_back_ns": _time(
        says="time from a failure until data in flight has been read and taken again"
    ),
    "handles": _count(says="handles of in-flight data per completed checkpoint"),
    "records_missed": _count(
        says="records missed by sources with replayable = false while they were down or held up"
    ),
    "passed_over_ns": _time(
        says="time that was not simulated, because the job repeats itself", less_is_better=None
    ),
    "pending_states": _count(says="most states pending at once"),
    "pending_bytes": _size(says="most bytes of pending states at once"),
    "pending_age_ns": _time(says="longest time that a state was pending"),
    "wrong_acknowledgements": _count(says="states returned before all their records were durable"),
    "worked_off_ns": _time(says="time from a failure until its backlog is worked off"),
    "undetected_ns": _time(says="time until a task manager lost in silence is known to be"),
    "broken_share": _share(says="share of runs that break a property", of_whole=True),
}

METRICS: Mapping[str, Metric] = {
    "ended_ns": _time(says="duration of the run"),
    "completed_share": _share(
        says="share of runs that complete", less_is_better=False, of_whole=True
    ),
    "finishing_ns": _time(says="time to finish after the end of the input"),
    "finishing_checkpoints": _count(says="checkpoints triggered after the end of the input"),
    "first_closed_ns": _time(says="instant at which the first subtask closes"),
    "median_closed_ns": _time(says="median instant at which a subtask closes"),
    "median_latency_ns": _time(says="median checkpoint duration of a run"),
    "p95_latency_ns": _time(says="95th percentile of a run's checkpoint durations"),
    "longest_latency_ns": _time(says="longest checkpoint of a run"),
    "start_delay_ns": _time(says="median time until a checkpoint's last first barrier"),
    "persisted_bytes": _size(says="data persisted per checkpoint"),
    "checkpoints_completed": _count(says="checkpoints completed", less_is_better=None),
    "checkpoints_failed": _count(says="checkpoints failed"),
    "failed_checkpoint_share": _share(says="share of checkpoints that fail", of_whole=True),
    "records_committed": _count(says="records committed", less_is_better=None),
    "records_produced": _count(says="records read from the source", less_is_better=None),
    "recovery_ns": _time(says="time spent down and restarting"),
    "records_reprocessed": _count(says="records done again after failures"),
    "downtime_ns": _time(says="time from a failure to the first record"),
    "catch_up_ns": _time(says="time from a failure until caught up, or the end of the run"),
    "caught_up_share": _share(
        says="share of failures that a job catches up with", less_is_better=False, of_whole=True
    ),
    "peak_latency_ns": _time(says="largest latency of a record"),
    "recovery_detected_ns": _time(says="time until a failure is known"),
    "recovery_restart_ns": _time(
        says="time from there until tasks are cancelled and the delay is over"
    ),
    "recovery_read_ns": _time(says="time from there until tasks have read their state"),
    "recovery_first_record_ns": _time(says="time from there to the first record"),
    "recovery_catch_up_ns": _time(says="time from the first record until caught up"),
    **FIGURES,
}


LARGEST_SEED = (1 << 62) - 1
SCENARIO_AXIS = "scenario"  # an axis of this name sweeps the scenario itself
_TIES = Text(
    pattern=r"structural|random|pct(:[1-9][0-9]{0,2})?",
    says='"structural", "random", "pct" or "pct:DEPTH"',
    longest=10,
)
_SAYS = Text(pattern=r"[^\x00-\x1f\x7f]*", says="a text on one line", longest=300)
_WORDS = Text(pattern=r"[^\x00-\x1f\x7f]+", says="some words on one line", longest=60)
_SCENARIO = Text(pattern=r"[^\x00-\x1f\x7f]+", says="a scenario's name or path", longest=300)
_MOST_VALUES = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings(Kind):
    """A table of parameter paths and one value each. Tables inside it are paths in parts."""

    def read(self, found: object, at: At) -> object:
        """Take a table and return its values by whole path."""
        if not isinstance(found, Mapping):
            return at.refuse(found, self.expected())
        before = len(at.problems)
        values: dict[str, object] = {}
        for path, value in flat(found):
            if not is_path(path):
                at.key(path).note("no path of a parameter", "a path such as sync.sockets.count")
            elif path in values:
                at.key(path).refuse(value, "each path once")
            values[path] = value
        return BAD if len(at.problems) > before else values

    def expected(self) -> str:
        """Return in words what may stand here."""
        return "a table of parameter paths and values"

    def plain(self, value: object) -> object:
        """Return the table."""
        return value


@dataclass(frozen=True, slots=True, kw_only=True)
class Axes(Kind):
    """A table of parameter paths and an array of values each."""

    def read(self, found: object, at: At) -> object:
        """Take a table of arrays and return them as tuples by whole path."""
        settings = Settings().read(found, at)
        if not isinstance(settings, dict):
            return at.refuse(found, self.expected()) if not isinstance(found, Mapping) else settings
        before = len(at.problems)
        for path, values in settings.items():
            if not isinstance(values, list) or not 1 <= len(values) <= _MOST_VALUES:
                at.key(path).refuse(values, f"an array of 1 to {_MOST_VALUES} values")
        if len(at.problems) > before:
            return BAD
        return {path: tuple(values) for path, values in settings.items()}

    def expected(self) -> str:
        """Return in words what may stand here."""
        return "a table of parameter paths and an array of values each"

    def plain(self, value: object) -> object:
        """Return the table."""
        return value


@dataclass(frozen=True, slots=True, kw_only=True)
class Words(Kind):
    """A table of parameter paths and what people call each."""

    def read(self, found: object, at: At) -> object:
        """Take a table of texts and return them by whole path."""
        settings = Settings().read(found, at)
        if not isinstance(settings, dict):
            return at.refuse(found, self.expected()) if not isinstance(found, Mapping) else settings
        texts = {path: _WORDS.read(value, at.key(path)) for path, value in settings.items()}
        return BAD if BAD in texts.values() else texts

    def expected(self) -> str:
        """Return in words what may stand here."""
        return "a table of parameter paths and a text each"

    def plain(self, value: object) -> object:
        """Return the table."""
        return value


def flat(table: Mapping[str, object], path: str = "") -> list[tuple[str, object]]:
    """Return the values of nested tables by whole path, in order."""
    found: list[tuple[str, object]] = []
    waiting: list[tuple[str, object]] = [(path, table)]
    while waiting:
        here, value = waiting.pop()
        if isinstance(value, Mapping) and value:
            parts = [(f"{here}.{key}" if here else key, inner) for key, inner in value.items()]
            waiting.extend(reversed(parts))
        elif here:
            found.append((here, value))
    return found


def _entry(name: str, kind: Kind, default: object, says: str) -> Entry:
    return Entry(name=name, short=None, default=default, kind=kind, says=says, source="")


ENTRIES: tuple[Entry, ...] = (
    _entry("name", name_kind(), REQUIRED, "by which the plan is found and shown"),
    _entry("says", _SAYS, "", "what the sweep shows, in one sentence"),
    _entry("question", _SAYS, "", "what the sweep asks, as one question"),
    _entry(
        "answers",
        Many(item=Choice(options=tuple(METRICS)), minimum=1, maximum=4),
        (),
        "metrics that answer the question, the most telling first",
    ),
    _entry("words", Words(), {}, "what swept parameters are called in figures and sentences"),
    _entry(
        "scenario",
        _SCENARIO,
        REQUIRED,
        "the scenario that is varied, by name, or by path from the plan's folder",
    ),
    _entry("overrides", Settings(), {}, "parameters set alike for all points"),
    _entry("grid", Axes(), {}, "values for every combination"),
    _entry("zip", Axes(), {}, "values that change together, the fastest"),
    _entry(
        "seeds",
        Many(item=whole(maximum=LARGEST_SEED), minimum=1, maximum=1_000_000),
        (),
        "seeds of the replications, one by one",
    ),
    _entry("first_seed", whole(maximum=1 << 61), 1, "seed of the first replication"),
    _entry("replications", whole(minimum=1, maximum=1_000_000), 10, "runs per point and policy"),
    _entry("ties", Many(item=_TIES, minimum=1, maximum=10), ("structural",), "tie policies"),
    _entry("common_random_numbers", Flag(), True, "the same seeds at every point"),
)
