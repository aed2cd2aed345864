"""Random faults: any kind of a link's, drawn from what its fields declare and a scenario has.

Which values a parameter may have says its field.  Where a scenario knows better, as it does of the
names of vertices, `Parts` has the values.  When a fault strikes is drawn around `Times`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeAlias, cast

from ckptsim.scenarios import job as jobs
from ckptsim.scenarios.composed import Pipeline
from ckptsim.scenarios.composed import Placement as PipelinePlacement
from ckptsim.scenarios.dialect import At, Choice, Flag, Kind, OneOf, Real, Whole, schema
from ckptsim.scenarios.errors import Problem
from ckptsim.scenarios.files import plain
from ckptsim.scenarios.generators.choices import Choices
from ckptsim.scenarios.job import faults as job_faults
from ckptsim.scenarios.links import LINKS
from ckptsim.scenarios.spec import Scenario
from ckptsim.scenarios.store import Lost, StoreModel, StorePlacement
from ckptsim.scenarios.sync import Medium, SourceTable, StateKind, StreamTable, SyncModel

_MS = 1_000_000
_PARALLELISM_MAX = 128
# The shortest duration that is drawn; an assumption: nothing that matters is shorter.
_TIME_MIN_NS = 1_000
_SIZE_MAX_BYTES = 1 << 16
# A log that was compacted is read record by record, without it in one step; an assumption.
_COMPACTED_MAX = 100_000
_ELSEWHERE = "the position is somebody else's, and no store can tell that it is wrong"
_TRUNCATED = "what the log has lost for good is nowhere else"
_GONE = "data and checkpoint of the sink go together, and nothing is sent again"
_OF_ONE_WIDTH = "its in-flight data is put back where no parallelism changes"
_ALONE = "no coordinator: its tasks take checkpoints by themselves"
# What strikes tasks that take checkpoints by themselves, too.
_OF_ANY_TASK = ("crash_task", "fail_snapshot", "slow_file", "stall_task")

Values: TypeAlias = Sequence[Any] | Callable[[Mapping[str, Any]], Sequence[Any]]
"""The values of a parameter, simplest first, or what returns them for the parameters before it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """When things happen in a scenario without drawn faults, as it was run once or is expected.

    ended_ns, events: its last instant and its length.  instants: of every kind of event those at
    which it occurs, in ns.  durations: those of the scenario's own parameters that fit into the
    run, in ns.  checkpoints: the highest number that a checkpoint has.
    """

    ended_ns: int = 1
    events: int = 0
    instants: tuple[tuple[int, ...], ...] = ()
    durations: tuple[int, ...] = ()
    checkpoints: int = 0


def durations(scenario: Scenario) -> list[int]:
    """Return the durations that a scenario's parameters have, its faults not among them, in ns."""
    return list(_durations(plain(scenario)[LINKS[scenario.link].key]))


def _durations(value: Any) -> Iterator[int]:
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    for key, one in inner:
        if isinstance(one, dict | list):
            yield from _durations(one)
        elif isinstance(one, int) and str(key).endswith("_ns"):
            yield one


def expected(scenario: Scenario, *, step_ns: int, steps: int) -> Times:
    """Return the times of a scenario in which something happens at each of so many steps."""
    ended_ns = step_ns * steps
    own = sorted({one for one in durations(scenario) if 0 < one <= ended_ns})
    instants = tuple(step_ns * number for number in range(1, steps + 1))
    return Times(
        ended_ns=ended_ns, instants=(instants,), durations=tuple(own), checkpoints=min(steps, 5)
    )


# What a scenario has -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What of a scenario its faults can name.

    values: those of a parameter, by `KIND.PARAMETER` or `PARAMETER`; of all others their bounds say
    what is possible.  left_out: kind -> why none is drawn: it cannot strike, or no design outlives
    it.
    """

    values: Mapping[str, Values] = field(default_factory=dict)
    left_out: Mapping[str, str] = field(default_factory=dict)

    def options(self, kind: str, name: str, drawn: Mapping[str, Any]) -> Sequence[Any] | None:
        """Return the values to choose from, None where bounds alone say what is possible."""
        found = self.values.get(f"{kind}.{name}", self.values.get(name))
        return found(drawn) if callable(found) else found


def parts_of(scenario: Scenario, checkpoints: int) -> Parts:
    """Return what faults can name; checkpoints: how many the scenario takes without them."""
    match scenario.model:
        case jobs.Job() as model:
            return _of_job(model, checkpoints)
        case SyncModel() as model:
            return _of_sync(model)
        case StoreModel() as model:
            return _of_store(model)
        case Pipeline() as model:
            return _of_pipeline(model, checkpoints)
        case _:
            return Parts()


def _of_job(model: jobs.Job, checkpoints: int) -> Parts:
    single = [vertex for vertex in model.vertices if vertex.repeat == 1]
    sources = tuple(vertex.name for vertex in single if vertex.is_source)
    changes = partial(job_faults.Rescale, parallelism=1, at_ns=0)
    unfit = {one.name: changes(vertex=one.name).problems_in(model) for one in model.vertices}
    rescaled = tuple(name for name, problems in unfit.items() if not problems)
    most = min(_PARALLELISM_MAX, 2 * max(vertex.parallelism for vertex in model.vertices) + 1)
    modes = ["as_before", "aligned", "at_least_once"]
    if model.checkpointing.max_concurrent == 1:
        modes += ["unaligned", "aligned_timeout"]
    if _is_of_one_width(model):
        rescaled = ()
    values = _tasks({vertex.name: vertex.parallelism for vertex in single}, checkpoints)
    triggers = ("lose_trigger.vertex", "delay_trigger.vertex", "refuse_trigger.vertex")
    left_out = _left_out_of_job(model)
    if "rescale" not in left_out and not rescaled:
        problem = next(problems[0] for problems in unfit.values())
        left_out["rescale"] = f"needs {problem.expected}"
    return Parts(
        values=values
        | dict.fromkeys(triggers, sources)
        | {
            "rescale.vertex": rescaled,
            "resubmit.vertex": ("",) * len(rescaled) + rescaled or ("",),
            "parallelism": range(1, most + 1),
            "mode": modes,
        },
        left_out=left_out,
    )


def _left_out_of_job(model: jobs.Job) -> dict[str, str]:
    checkpointing = model.checkpointing
    kinds = LINKS["barriers"].faults
    if checkpointing.enabled and not checkpointing.coordinated:
        return {kind: _ALONE for kind in kinds if kind not in _OF_ANY_TASK}
    if not checkpointing.enabled:
        none = "needs checkpoints (job.checkpointing.enabled)"
        at_checkpoints = job_faults.AtCheckpoint
        of_checkpoints = [k for k, table in kinds.items() if issubclass(table, at_checkpoints)]
        return dict.fromkeys([*of_checkpoints, "request_checkpoint", "resubmit"], none)
    left_out = {"rescale": _OF_ONE_WIDTH} if _is_of_one_width(model) else {}
    if not checkpointing.unaligned and not model.channel_state.is_logged:
        left_out["fail_channel_state"] = "needs checkpoints with in-flight data (unaligned)"
    return left_out


def _is_of_one_width(model: jobs.Job) -> bool:
    """Return whether in-flight data is put back in a way that needs the channels of before."""
    state = model.channel_state
    return (
        state.ordered_edges is jobs.OrderedEdges.FORCED
        or state.subtask_indices is not jobs.SubtaskIndices.KEPT
        or (state.is_logged and state.replay_from is jobs.ReplayFrom.TOLD_AT_RECOVERY)
    )


def _tasks(parallelism: Mapping[str, int], checkpoints: int) -> dict[str, Values]:
    """Return the values of faults that name a subtask, and a checkpoint."""
    return {
        "vertex": tuple(parallelism),
        "subtask": lambda drawn: range(parallelism[drawn["vertex"]]),
        "checkpoint": range(1, checkpoints + 2),
    }


def _of_sync(model: SyncModel) -> Parts:
    left_out = {}
    if model.medium is Medium.SOCKET and model.sockets.count > 1:
        left_out["repeat_index"] = "on several sockets nothing says which of two states is first"
    values = _feeds(model.state_kind, model.streams, model.source, model.sockets.count)
    return Parts(values=values, left_out=left_out)


def _feeds(
    kind: StateKind, streams: Sequence[StreamTable], source: SourceTable, sockets: int
) -> dict[str, Values]:
    """Return the values of faults that name a socket, a feed, its readers and rounds.

    So few sends and uploads fail in a row that each fault ends one attempt, or two, at the most.
    """
    sizes = [-(-one.records // one.partition_records) for one in streams]
    if kind is not StateKind.STREAM:
        sizes.append(-(-source.log_records // source.log_partition_records))
    rounds = [-(-size // source.round_readers) for size in sizes]
    return {
        "socket": range(sockets),
        "feed": range(len(sizes)),
        "other_feed": range(len(sizes)),
        "reader": lambda drawn: range(sizes[drawn["feed"]] + 1),
        "other_reader": lambda drawn: range(sizes[drawn["other_feed"]] + 1),
        "round": lambda drawn: range(rounds[drawn["feed"]] + 1),
        "sends": (1, 1, 2, 3),
        "fail_upload.uploads": (1, 2),
        "states": range(1, 21),
        "packets": range(4),
        "count_error.records": (1, -1, 7, -7),
    }


def _of_store(model: StoreModel) -> Parts:
    given, external = model.input, model.placement is StorePlacement.EXTERNAL
    # A release that names another store finds no checkpoint for the rows there.
    switches = not model.sync.mirror and model.placement is not StorePlacement.COLOCATED
    values: dict[str, Values] = {
        "version": range(1, given.versions + 1),
        "partition": range(given.partitions),
        "record": range(given.push_records + given.stream_records),
        "loses": ("nothing", *(one.value for one in _losses(model))),
        "built_in": (False, True) if switches else (model.sync.built_in,),
        "mean_ns": (50 * _MS, 700 * _MS),
        "wipe": (True,),  # a design that leaves old rows in place has them for good
    }
    left_out = {"foreign_commit": _ELSEWHERE, "truncate_log": _TRUNCATED}
    if not external:
        left_out["torn_write"] = "needs external checkpoints, which are written in place"
    if model.placement is StorePlacement.COLOCATED:
        left_out["commit_outage"] = "needs remote checkpoints"
    if not given.compressed:
        left_out["dictionary_outage"] = "needs compressed values (store.input.compressed)"
    if given.deletes_every:
        left_out["compact"] = "a delete that is gone from the log is not repeated"
    elif given.push_records + given.stream_records > _COMPACTED_MAX:
        left_out["compact"] = f"takes minutes with more than {_COMPACTED_MAX:,} records"
    return Parts(values=values, left_out=left_out)


def _losses(model: StoreModel) -> tuple[Lost, ...]:
    """Return what may be lost of a store: data only if that is noticed, or a checkpoint goes, too.

    A mirror puts rows back that are older than what is ingested again.
    """
    if model.placement is StorePlacement.COLOCATED:
        return Lost.DATA, Lost.CHECKPOINT, Lost.LOCAL
    if model.sync.mirror:
        return ()
    noticed = (Lost.DATA, Lost.LOCAL) if model.sync.identity else ()
    return Lost.CHECKPOINT, *noticed


def _of_pipeline(model: Pipeline, checkpoints: int) -> Parts:
    steps = [("readers", model.readers.parallelism)]
    steps += [(stage.name, stage.parallelism) for stage in model.stages]
    of_feeds = _feeds(model.state_kind, model.streams, model.source, model.sockets.count)
    of_tasks = _tasks(dict([*steps, ("sink", model.sink.parallelism)]), checkpoints)
    left_out = {"foreign_commit": _ELSEWHERE}
    if model.store.placement is PipelinePlacement.COLOCATED:
        left_out["lose_store"] = _GONE
    own: dict[str, Values] = {
        "lose_store.what": ("checkpoint",),
        "delay_trigger.vertex": ("readers",),
        "refuse_commits.subtask": ("none", *range(model.sink.parallelism)),
        "commits": range(1, 6),
        "attempt": range(2, 5),
    }
    return Parts(values=of_feeds | of_tasks | own, left_out=left_out)


# Draws ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """Draws faults of one scenario: `fault` returns one that fits, or what it ran into."""

    scenario: Scenario
    parts: Parts
    times: Times

    @property
    def kinds(self) -> list[str]:
        """The kinds of faults that can strike."""
        return [
            kind for kind in LINKS[self.scenario.link].faults if kind not in self.parts.left_out
        ]

    def fault(
        self, choices: Choices, kind: str, before: Sequence[object] = ()
    ) -> tuple[object | None, Problem | None]:
        """Return a fault of a kind; before: the faults that strike besides."""
        tables = LINKS[self.scenario.link].faults
        instants = tuple(at for at in (getattr(one, "at_ns", None) for one in before) if at)
        drawn: dict[str, Any] = {"kind": kind}
        for entry in schema(tables[kind]):
            options = self.parts.options(kind, entry.name, drawn)
            if options is not None:
                drawn[entry.name] = choices.of(options)
            else:
                value = self._value(choices, entry.name, entry.kind, instants)
                if value is not None:
                    drawn[entry.name] = value
        problems: list[Problem] = []
        fault = OneOf(tables=tables).read(drawn, At("random faults", "", problems))
        if not problems and hasattr(fault, "problems_in"):
            problems += cast("Any", fault).problems_in(self.scenario.model)
        return (None, problems[0]) if problems else (fault, None)

    def _value(self, choices: Choices, name: str, kind: Kind, before: Sequence[int]) -> Any:
        """Draw a value of a kind, or None to leave the parameter at its default."""
        match kind:
            case Choice(options=options):
                return choices.of(options)
            case Flag():
                return choices.flag()
            case Whole(mark="_ns"):
                at = name == "at_ns"
                drawn = self._instant(choices, before) if at else self._duration(choices)
                return min(max(drawn, kind.minimum), kind.maximum)
            case Whole(mark="_bytes"):
                high = min(kind.maximum, _SIZE_MAX_BYTES)
                return _magnitude(choices, kind.minimum, max(kind.minimum, high))
            case Whole(mark=""):
                return self._count(choices, kind)
            case Real(minimum=low, maximum=high):
                return low + choices.integer(0, 100) / 100 * (min(high, low + 100.0) - low)
            case _:
                return None

    def _instant(self, choices: Choices, before: Sequence[int]) -> int:
        """Draw an instant: anywhere in the run, or near one at which something happens.

        What a fault before it has caused, such as a restore, comes a duration of the scenario's own
        later, which no run without that fault shows.
        """
        times = self.times
        how = choices.integer(0, 3)
        if how < 2 or not times.instants:
            return choices.integer(0, times.ended_ns)
        if how == 2 and before:
            return choices.of(before) + self._duration(choices)
        near_ns = choices.of(choices.of(times.instants))
        if choices.flag():
            return near_ns
        later_ns = _magnitude(choices, 1, max(1, times.ended_ns // 100))
        return max(0, near_ns + (later_ns if choices.flag() else -later_ns))

    def _duration(self, choices: Choices) -> int:
        """Draw a duration: one that the scenario has, or any that is no longer than its run."""
        times = self.times
        if times.durations and choices.flag():
            return max(0, choices.of(times.durations) + choices.integer(-1, 1))
        return _magnitude(choices, min(_TIME_MIN_NS, times.ended_ns), times.ended_ns)

    def _count(self, choices: Choices, kind: Whole) -> int:
        """Draw a number up to that of the events of one kind, which are the things counted."""
        most = len(choices.of(self.times.instants)) if self.times.instants else 1
        low = max(kind.minimum, -most)
        return choices.integer(low, min(kind.maximum, max(low, 0) + most))


def _magnitude(choices: Choices, low: int, high: int) -> int:
    """Draw between low and high with even odds per power of two."""
    exponent = choices.integer(low.bit_length(), high.bit_length())
    top = (1 << exponent) - 1
    return min(max(choices.integer(top >> 1, top), low), high)


def with_faults(
    choices: Choices,
    scenario: Scenario,
    times: Times,
    *,
    most: int,
    kinds: Sequence[str] | None = None,
) -> Scenario:
    """Return the scenario with up to `most` more faults.

    kinds: of which kinds; by default each kind that can strike is there with even odds.
    """
    parts = parts_of(scenario, times.checkpoints)
    drawing = Drawing(scenario=scenario, parts=parts, times=times)
    known = drawing.kinds
    present = choices.features(known) if kinds is None else [one for one in kinds if one in known]
    if not present:
        return scenario
    found = list(scenario.faults)
    alike = choices.alike(present)

    def draw() -> None:
        fault, _ = drawing.fault(choices, next(alike), found)
        if fault is not None:
            found.append(fault)

    choices.several(draw, most=most)
    return replace(scenario, faults=tuple(found))
