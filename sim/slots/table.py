"""The slots that there are.

The whole cores can be anybody's: what hosts ask of them is a door of events and effects with a few
questions beside it (docs/slots.md).  The parts below them are replaced by subclasses of ours.
Mutants need them, and so do you to study one rule alone.
"""

from __future__ import annotations

from functools import partial

from ckptsim.models import barriers
from ckptsim.models.coordinator import CoordinatorParameters, EndOfDataListener, Recovery
from ckptsim.models.coordinator.debloater import DebloatParameters
from ckptsim.models.lifecycle import TaskKind, TaskParameters, WatermarkValve
from ckptsim.models.ordering import Medium, OrderingParameters, StreamDescriptor
from ckptsim.models.ordering.source import SourceParameters
from ckptsim.models.recovery import GateAssignment, InFlightAssignment, RecoveredInput
from ckptsim.models.store import Placement, StoreVersions
from ckptsim.sim.slots import protocols
from ckptsim.sim.slots.slot import Call, Slot

_JOBS = ("barriers", "barrier_protocol", "final_checkpoint", "composed")
_RECORD_JOBS = ("barrier_protocol", "final_checkpoint")
_SECOND_NS = 1_000_000_000
_USERS = (StreamDescriptor("users"),)
_BARRIER = barriers.Barrier(1, 0, barriers.OptionKind.ALIGNED)
_ASSIGNMENT = GateAssignment(old_subtasks=(0,), old_channels=((0,),), identity=True, ambiguous=())


def _close_store(store: StoreVersions) -> None:
    store.client.medium.close()


_whole = partial(Slot, links=_JOBS, whole=True)
_part = partial(Slot, links=_JOBS)
_part_on_records = partial(Slot, links=_RECORD_JOBS)
_part_of_pipeline = partial(Slot, links=("composed",))
_part_of_vectors = partial(Slot, suites=("coordinator",))

_WHOLE = (
    _whole(
        name="ordering",
        says="when a state may be returned to the platform",
        takes="(parameters: OrderingParameters)",
        gives="OrderingDoor",
        ours="ckptsim.models.ordering:make_core",
        links=("ordering", "composed"),
        suites=("ordering",),
        sample=lambda: Call(
            (OrderingParameters(medium=Medium.SOCKET, streams=_USERS, channels=1),)
        ),
        protocol=protocols.OrderingDoor,
        is_main=True,
    ),
    Slot(
        name="source",
        says="which position a source's states tell, of partitions that are read concurrently",
        takes="(parameters: SourceParameters)",
        gives="SourceDoor",
        ours="ckptsim.models.ordering.source:SourceCore",
        links=("ordering", "composed"),
        suites=("ordering",),
        whole=True,
        sample=lambda: Call((SourceParameters(medium=Medium.SOCKET, streams=_USERS),)),
        protocol=protocols.SourceDoor,
    ),
    _whole(
        name="handler",
        says="when the barriers of a task's channels make it take a checkpoint",
        takes="(kind: HandlerKind, channels: int, *, gates: int, after_finish: bool)",
        gives="BarrierHandler",
        ours="ckptsim.models.barriers:make_handler",
        suites=("barriers",),
        sample=lambda: Call((barriers.HandlerKind.ALIGNED, 2), {"gates": 1, "after_finish": True}),
        protocol=protocols.BarrierHandler,
    ),
    _whole(
        name="coordinator",
        says="when checkpoints are triggered, complete or fail, and which tasks are notified",
        takes=(
            "(parameters: CoordinatorParameters, *, first_checkpoint: int, "
            "completed: tuple[int, ...])"
        ),
        ours="ckptsim.models.coordinator:CheckpointCoordinator",
        sample=lambda: Call(
            (CoordinatorParameters(interval_ns=_SECOND_NS),), {"first_checkpoint": 1}
        ),
        protocol=protocols.Coordinator,
    ),
    _whole(
        name="lifecycle",
        says="how a task ends: end of data, its acknowledgement, final checkpoint, closing",
        takes="(parameters: TaskParameters)",
        ours="ckptsim.models.lifecycle:TaskLifecycle",
        suites=("final_checkpoint",),
        sample=lambda: Call((TaskParameters(kind=TaskKind.SOURCE),)),
        protocol=protocols.Lifecycle,
    ),
    _whole(
        name="channel_state",
        says="when the in-flight data of a group of subtasks is written, and the answers",
        takes="(subtasks: list[int])",
        ours="ckptsim.models.barriers:SharedStateWriter",
        sample=lambda: Call(([0],)),
        protocol=protocols.ChannelStateWriter,
    ),
    _whole(
        name="global_committer",
        says="which files of parallel writers one commit has, and when",
        takes="(writers: int)",
        gives="GlobalCommitter",
        ours="ckptsim.models.committer:GlobalCommitter",
        links=_RECORD_JOBS,
        sample=lambda: Call((2,)),
        protocol=protocols.GlobalCommitter,
    ),
    _whole(
        name="enumerator",
        says="which reader gets which split, and what a checkpoint has of splits",
        takes="(readers: int)",
        gives="SplitEnumerator",
        ours="ckptsim.models.enumerator:SplitEnumerator",
        links=_RECORD_JOBS,
        sample=lambda: Call((2,)),
        protocol=protocols.SplitEnumerator,
    ),
    _whole(
        name="acknowledger",
        says="up to where the owner of a source's log may cut it",
        takes="()",
        gives="Acknowledger",
        ours="ckptsim.models.acknowledger:Acknowledger",
        links=_RECORD_JOBS,
        sample=Call,
        protocol=protocols.Acknowledger,
    ),
    _whole(
        name="store",
        says="where a checkpoint lies relative to its data, and what survives a crash",
        takes="(placement: Placement)",
        gives="StoreVersions",
        ours="ckptsim.models.store:make_store",
        links=("checkpoint_store", "composed"),
        suites=("checkpoint_store",),
        sample=lambda: Call((Placement.EXTERNAL,)),
        close=_close_store,
        protocol=protocols.Store,
        is_main=True,
    ),
    Slot(
        name="fence",
        says="whether a store accepts a write of a process that another one has replaced",
        takes="()",
        gives="FenceDoor",
        ours="ckptsim.models.store.fence:Fence",
        links=("checkpoint_store",),
        whole=True,
        sample=Call,
        protocol=protocols.FenceDoor,
    ),
    Slot(
        name="positions",
        says="which position of a record a checkpoint keeps for the local and for the remote log",
        takes="()",
        gives="PositionsDoor",
        ours="ckptsim.models.store.positions:Positions",
        links=("checkpoint_store",),
        whole=True,
        sample=Call,
        protocol=protocols.PositionsDoor,
    ),
)

_PARTS = (
    _part(
        name="subtask",
        says="a subtask's part in a checkpoint, from the trigger to the acknowledgement",
        takes="()",
        ours="ckptsim.models.barriers:SubtaskCheckpoints",
        sample=Call,
        of=barriers.SubtaskCheckpoints,
    ),
    _part(
        name="input_channel",
        says="the receiver's queue of a channel, and what of it is persisted",
        takes="(index: int, outbox: list[NetworkEffect])",
        ours="ckptsim.models.barriers:RemoteInputChannel",
        suites=("channel_state",),
        sample=lambda: Call((0, [])),
        of=barriers.RemoteInputChannel,
    ),
    _part(
        name="output_subpartition",
        says="the sender's queue of a channel, and which barriers overtake in it",
        takes="(index: int, outbox: list[NetworkEffect])",
        ours="ckptsim.models.barriers:Subpartition",
        suites=("channel_state",),
        sample=lambda: Call((0, [])),
        of=barriers.Subpartition,
    ),
    _part(
        name="edge",
        says="as what a barrier is sent over an edge that must keep its order, or need not",
        takes="(barrier: Barrier, *, supports_unaligned: bool)",
        gives="Barrier",
        ours="ckptsim.sim.slots.cores:over_edge",
        sample=lambda: Call((_BARRIER,), {"supports_unaligned": True}),
        of=barriers.Barrier,
        is_rule=True,
    ),
    _part(
        name="end_of_data",
        says="whether a final checkpoint is asked for, as all tasks have ended their data",
        takes="(tasks: int, *, enabled: bool)",
        ours="ckptsim.models.coordinator:EndOfDataListener",
        sample=lambda: Call((1,), {"enabled": True}),
        of=EndOfDataListener,
    ),
    _part(
        name="failover",
        says="what becomes of a job that fails around a stop with savepoint",
        takes="(*, stop_completed: bool)",
        gives="Recovery",
        ours="ckptsim.models.coordinator:after_failure",
        sample=lambda: Call((), {"stop_completed": False}),
        of=Recovery,
        is_rule=True,
    ),
    _part_on_records(
        name="watermarks",
        says="the event time of a task, of watermarks and statuses of its channels",
        takes="(channels: int)",
        ours="ckptsim.models.lifecycle:WatermarkValve",
        sample=lambda: Call((1,)),
        of=WatermarkValve,
    ),
    _part_on_records(
        name="assignment",
        says="which in-flight data of old channels goes into which new one, at a rescale",
        takes="()",
        ours="ckptsim.models.recovery:InFlightAssignment",
        sample=Call,
        of=InFlightAssignment,
    ),
    _part_on_records(
        name="recovered_input",
        says="how a gate takes in-flight data of old channels over, and when it is done",
        takes="(assignment: GateAssignment, channels: int, *, accepts: Callable[[int], bool])",
        ours="ckptsim.models.recovery:RecoveredInput",
        sample=lambda: Call((_ASSIGNMENT, 1), {"accepts": bool}),
        of=RecoveredInput,
    ),
    _part_on_records(
        name="induced",
        says="when a task takes a checkpoint by itself, or a message forces it to",
        takes="()",
        gives="TaskProtocol",
        ours="ckptsim.models.uncoordinated:InducedTask",
        sample=Call,
        protocol=protocols.TaskProtocol,
    ),
    _part_on_records(
        name="recovery_line",
        says="the checkpoints of single tasks that a job restarts from, without barriers",
        takes="(channels: Sequence[LineChannel], begin: Sequence[Checkpoint], *, logged: bool)",
        ours="ckptsim.models.uncoordinated:RecoveryLine",
        sample=lambda: Call(((), ()), {"logged": True}),
        protocol=protocols.RecoveryLines,
    ),
)

# Parts of a pipeline where two links meet. A world makes them with what it is made of.
_OF_PIPELINES = (
    _part_of_pipeline(
        name="sink",
        says="what a sink does to its transactions, and which of them a snapshot holds",
        takes="(sinks, place, *, committer, settled)",
        ours="ckptsim.sim.job.control.sinks.sink:SinkWriter",
    ),
    _part_of_pipeline(
        name="committer",
        says="how transactions go into the store, in which order, and which are found there again",
        takes="(attempt, store, key)",
        ours="ckptsim.sim.composed.destination.committer:Committer",
    ),
    _part_of_pipeline(
        name="destination",
        says="when the records of a pipeline are reported as durable",
        takes="(attempt)",
        ours="ckptsim.sim.composed.destination:PipelineDestination",
    ),
)

# Parts of the coordinator that have vectors of their own and no place in a world.
_OF_VECTORS = (
    _part_of_vectors(
        name="request_decider",
        says="which request for a checkpoint is carried out, dropped or put off",
        takes="(*, max_concurrent: int, min_pause_ns: int, max_queued: int)",
        ours="ckptsim.models.coordinator.requests:RequestDecider",
        sample=lambda: Call((), {"max_concurrent": 1, "min_pause_ns": 0, "max_queued": 1000}),
        protocol=protocols.Decider,
    ),
    _part_of_vectors(
        name="failure_counter",
        says="which failures of checkpoints count",
        takes="(tolerable: int)",
        ours="ckptsim.models.coordinator.failures:FailureCounter",
        sample=lambda: Call((0,)),
        protocol=protocols.Counter,
    ),
    _part_of_vectors(
        name="debloater",
        says="how large a network buffer may be",
        takes="(parameters: DebloatParameters)",
        ours="ckptsim.models.coordinator.debloater:BufferDebloater",
        sample=lambda: Call((DebloatParameters(),)),
        protocol=protocols.Debloater,
    ),
)

SLOTS: dict[str, Slot] = {
    slot.name: slot for slot in (*_WHOLE, *_PARTS, *_OF_PIPELINES, *_OF_VECTORS)
}


def slots_of(*places: str) -> list[Slot]:
    """Return the slots of links and of `suite NAME`, the whole cores first."""
    return [slot for slot in SLOTS.values() if any(place in slot.places for place in places)]
