"""What faults can name in a scenario, and which kinds are not drawn for it, with the reason."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from ckptsim.scenarios import LINKS, Scenario
from ckptsim.scenarios import job as jobs
from ckptsim.scenarios.composed import Pipeline
from ckptsim.scenarios.composed import Placement as PipelinePlacement
from ckptsim.scenarios.generators.checkpoint_store import losses, may_switch
from ckptsim.scenarios.job import faults as job_faults
from ckptsim.scenarios.store import StoreModel, StorePlacement
from ckptsim.scenarios.sync import Medium, SourceTable, StateKind, StreamTable, SyncModel

Options = Callable[[str, str, Mapping[str, Any]], Sequence[Any] | None]

_PARALLELISM_MAX = 128
# A log that was compacted is read record by record, without it in one step; an assumption.
_COMPACTED_MAX = 100_000
_ELSEWHERE = "the position is somebody else's, and no store can tell that it is wrong"
_TRUNCATED = "what the log has lost for good is nowhere else"
_GONE = "data and checkpoint of the sink go together, and nothing is sent again"
_ALONE = "no coordinator: its tasks take checkpoints by themselves"
# What strikes tasks that take checkpoints by themselves, too.
_OF_ANY_TASK = ("crash_task", "fail_snapshot", "slow_file", "stall_task")


def _anything(_kind: str, _name: str, _drawn: Mapping[str, Any]) -> Sequence[Any] | None:
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What of a scenario its faults can name.

    options: kind of fault, parameter and what of the fault is drawn so far -> the values to choose
    from, simplest first, or None where bounds alone say what is possible.
    left_out: kind -> why none is drawn: it cannot strike, or no design outlives it.
    """

    options: Options = _anything
    left_out: Mapping[str, str] = field(default_factory=dict)


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
    of_tasks = _tasks({vertex.name: vertex.parallelism for vertex in single}, checkpoints)

    def options(kind: str, name: str, drawn: Mapping[str, Any]) -> Sequence[Any] | None:
        match kind, name:
            case "rescale", "vertex":
                return rescaled
            case "resubmit", "vertex":
                return ("",) * len(rescaled) + rescaled or ("",)
            case (("lose_trigger" | "delay_trigger" | "refuse_trigger"), "vertex"):
                return sources
            case _, "parallelism":
                return range(1, most + 1)
            case _, "mode":
                return modes
        return of_tasks(kind, name, drawn)

    left_out = _left_out_of_job(model)
    if "rescale" not in left_out and not rescaled:
        problem = next(problems[0] for problems in unfit.values())
        left_out["rescale"] = f"needs {problem.expected}"
    return Parts(options=options, left_out=left_out)


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
    if not checkpointing.unaligned and not model.channel_state.is_logged:
        return {"fail_channel_state": "needs checkpoints with in-flight data (unaligned)"}
    return {}


def _tasks(parallelism: Mapping[str, int], checkpoints: int) -> Options:
    """Return the options of faults that name a subtask, and a checkpoint."""

    def options(_kind: str, name: str, drawn: Mapping[str, Any]) -> Sequence[Any] | None:
        match name:
            case "vertex":
                return tuple(parallelism)
            case "subtask":
                return range(parallelism[drawn["vertex"]])
            case "checkpoint":
                return range(1, checkpoints + 2)
        return None

    return options


def _of_sync(model: SyncModel) -> Parts:
    left_out = {}
    if model.medium is Medium.SOCKET and model.sockets.count > 1:
        left_out["repeat_index"] = "on several sockets nothing says which of two states is first"
    options = _feeds(model.state_kind, model.streams, model.source, model.sockets.count)
    return Parts(options=options, left_out=left_out)


def _feeds(
    kind: StateKind, streams: Sequence[StreamTable], source: SourceTable, sockets: int
) -> Options:
    """Return the options of faults that name a socket, a feed, its readers and rounds."""
    sizes = [-(-one.records // one.partition_records) for one in streams]
    if kind is not StateKind.STREAM:
        sizes.append(-(-source.log_records // source.log_partition_records))

    def options(_kind: str, name: str, drawn: Mapping[str, Any]) -> Sequence[Any] | None:
        match name:
            case "socket":
                return range(sockets)
            case "feed" | "other_feed":
                return range(len(sizes))
            case "reader" | "other_reader":
                return range(sizes[drawn[name.replace("reader", "feed")]] + 1)
            case "round":
                return range(-(-sizes[drawn["feed"]] // source.round_readers) + 1)
        return None

    return options


def _of_store(model: StoreModel) -> Parts:
    given, external = model.input, model.placement is StorePlacement.EXTERNAL
    built_in = (False, True) if may_switch(model) else (model.sync.built_in,)
    values: dict[str, Sequence[Any]] = {
        "version": range(1, given.versions + 1),
        "partition": range(given.partitions),
        "record": range(given.push_records + given.stream_records),
        "loses": ("nothing", *(one.value for one in losses(model))),
        "built_in": built_in,
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
    return Parts(options=lambda _kind, name, _drawn: values.get(name), left_out=left_out)


def _of_pipeline(model: Pipeline, checkpoints: int) -> Parts:
    steps = [("readers", model.readers.parallelism)]
    steps += [(stage.name, stage.parallelism) for stage in model.stages]
    of_tasks = _tasks(dict([*steps, ("sink", model.sink.parallelism)]), checkpoints)
    of_feeds = _feeds(model.state_kind, model.streams, model.source, model.sockets.count)

    def options(kind: str, name: str, drawn: Mapping[str, Any]) -> Sequence[Any] | None:
        match kind, name:
            case "lose_store", "what":
                return ("checkpoint",)
            case "delay_trigger", "vertex":
                return ("readers",)
            case "refuse_commits", "subtask":
                return ("none", *range(model.sink.parallelism))
        found = of_tasks(kind, name, drawn)
        return of_feeds(kind, name, drawn) if found is None else found

    left_out = {"foreign_commit": _ELSEWHERE}
    if model.store.placement is PipelinePlacement.COLOCATED:
        left_out["lose_store"] = _GONE
    return Parts(options=options, left_out=left_out)
