"""What faults can name in a scenario, and which kinds are not drawn for it, with the reason."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeAlias

from ckptsim.scenarios import job as jobs
from ckptsim.scenarios.composed import Pipeline
from ckptsim.scenarios.composed import Placement as PipelinePlacement
from ckptsim.scenarios.job import faults as job_faults
from ckptsim.scenarios.job.faults import AtCheckpoint
from ckptsim.scenarios.links import LINKS
from ckptsim.scenarios.spec import Scenario
from ckptsim.scenarios.store import Lost, StoreModel, StorePlacement
from ckptsim.scenarios.sync import Medium, SourceTable, StateKind, StreamTable, SyncModel

_MS = 1_000_000
_PARALLELISM_MAX = 128
# A log that was compacted is read record by record, without it in one step.  An assumption.
_COMPACTED_MAX = 100_000
_ELSEWHERE = "the position is somebody else's, and no store can tell that it is wrong"
_TRUNCATED = "what the log has lost for good is nowhere else"
_GONE = "data and checkpoint of the sink go together, and nothing is sent again"
_OF_ONE_WIDTH = "its in-flight data is put back where no parallelism changes"
_ALONE = "no coordinator: its tasks take checkpoints by themselves"
_NO_TIME = "single files that fail or are late show as much on records"
_NOTHING_SLOW = "needs a rate or latency in job.storage to slow"
_OF_STORAGE = ("slow_storage", "fail_storage")
# An instant of the run can be in any attempt, so that nothing is missed without these.
_OF_ATTEMPTS = ("attempt", "every_attempt", "after_ns")
_IN_PIPELINES = (*_OF_ATTEMPTS[1:], "crash_task.attempt", "stall_task.attempt")
# What strikes tasks that take checkpoints by themselves, too.
_OF_ANY_TASK = ("crash_task", "fail_snapshot", "slow_file", "stall_task")

Values: TypeAlias = Sequence[Any] | Callable[[Mapping[str, Any]], Sequence[Any]]
"""The values of a parameter, simplest first, or what returns them for the parameters before it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What of a scenario its faults can name.

    values: of a parameter, by `KIND.PARAMETER` or `PARAMETER`.  All others have their bounds.
    left_out: kind -> why none is drawn: it cannot strike, or no design outlives it.
    undrawn: parameters that keep their defaults, as `KIND.PARAMETER` or `PARAMETER`.
    """

    values: Mapping[str, Values] = field(default_factory=dict)
    left_out: Mapping[str, str] = field(default_factory=dict)
    undrawn: Collection[str] = ()

    def options(self, kind: str, name: str, drawn: Mapping[str, Any]) -> Sequence[Any] | None:
        """Return the values to choose from, None where bounds alone decide."""
        found = self.values.get(f"{kind}.{name}", self.values.get(name))
        return found(drawn) if callable(found) else found


def parts_of(scenario: Scenario, checkpoints: int) -> Parts:
    """Return what faults can name. checkpoints: how many the scenario takes without them."""
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
    enumerated = tuple(one.name for one in single if one.splits is not None)
    committed = tuple(one.name for one in single if one.global_committer)
    left_out = _left_out_of_job(model)
    if not committed:
        left_out.setdefault("delay_precommit", "needs a sink with `global_committer`")
    if not enumerated:
        left_out.setdefault("lose_split", "needs a source with `splits`")
    if "rescale" not in left_out and not rescaled:
        problem = next(problems[0] for problems in unfit.values())
        left_out["rescale"] = f"needs {problem.expected}"
    return Parts(
        values=values
        | dict.fromkeys(triggers, sources)
        | {
            "rescale.vertex": rescaled,
            "lose_split.vertex": enumerated,
            "occurrence": (1, 2, 3),
            "delay_precommit.vertex": committed,
            "resubmit.vertex": ("",) * len(rescaled) + rescaled or ("",),
            "parallelism": range(1, most + 1),
            "mode": modes,
        },
        left_out=left_out,
        undrawn=_OF_ATTEMPTS,
    )


def _left_out_of_job(model: jobs.Job) -> dict[str, str]:
    found = {} if model.plane is jobs.Plane.BUFFERS else dict.fromkeys(_OF_STORAGE, _NO_TIME)
    if not found and job_faults.SlowStorage(at_ns=0, lasts_ns=0).problems_in(model):
        found["slow_storage"] = _NOTHING_SLOW
    return found | _left_out_of_checkpoints(model)


def _left_out_of_checkpoints(model: jobs.Job) -> dict[str, str]:
    checkpointing = model.checkpointing
    kinds = LINKS["barriers"].faults
    if checkpointing.enabled and not checkpointing.coordinated:
        return {kind: _ALONE for kind in kinds if kind not in _OF_ANY_TASK}
    if not checkpointing.enabled:
        none = "needs checkpoints (job.checkpointing.enabled)"
        at_checkpoints = AtCheckpoint
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
    """Return values for faults of sockets and feeds. So few fail that attempts are left."""
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
    if given.remote_ahead is None:
        left_out["switch_source"] = "needs a log in another region (store.input.remote_ahead)"
    if not external:
        left_out["torn_write"] = "needs external checkpoints, which are written in place"
    if model.placement is StorePlacement.COLOCATED:
        left_out["commit_outage"] = "needs remote checkpoints"
    if not given.compressed:
        left_out["dictionary_outage"] = "needs compressed values (store.input.compressed)"
    if given.remote_ahead is None:
        left_out["switch_source"] = "needs a remote log (store.input.remote_ahead)"
    if given.deletes_every:
        left_out["compact"] = "a delete that is gone from the log is not repeated"
    elif given.push_records + given.stream_records > _COMPACTED_MAX:
        left_out["compact"] = f"takes minutes with more than {_COMPACTED_MAX:,} records"
    return Parts(values=values, left_out=left_out)


def _losses(model: StoreModel) -> tuple[Lost, ...]:
    """Return what a store may lose: data only if that is noticed, or a checkpoint goes too."""
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
        "commit": range(1, checkpoints + 2),
        "commits": range(1, 6),
        "attempt": range(2, 5),
    }
    return Parts(values=of_feeds | of_tasks | own, left_out=left_out, undrawn=_IN_PIPELINES)
