"""The slots that there are.

The whole cores can be anybody's: what hosts ask of them is a door of events and effects with a
few questions beside it (docs/slots.md).  The parts below them are replaced by subclasses of ours;
mutants need them, and whoever studies one rule alone.
"""

from __future__ import annotations

from ckptsim.models import barriers
from ckptsim.models.coordinator import CoordinatorParameters, EndOfDataListener, Recovery
from ckptsim.models.coordinator.debloater import DebloatParameters
from ckptsim.models.lifecycle import TaskKind, TaskParameters, WatermarkValve
from ckptsim.models.ordering import Medium, OrderingParameters, StreamDescriptor
from ckptsim.models.recovery import GateAssignment, InFlightAssignment, RecoveredInput
from ckptsim.models.store import Placement, StoreVersions
from ckptsim.sim.slots import protocols
from ckptsim.sim.slots.slot import Call, Slot

_JOBS = ("barriers", "barrier_protocol", "final_checkpoint", "composed")
_RECORD_JOBS = ("barrier_protocol", "final_checkpoint")
_SECOND_NS = 1_000_000_000


def _ordering() -> Call:
    streams = (StreamDescriptor("users"),)
    return Call((OrderingParameters(medium=Medium.SOCKET, streams=streams, channels=1),))


def _handler() -> Call:
    return Call((barriers.HandlerKind.ALIGNED, 2), {"gates": 1, "after_finish": True})


def _coordinator() -> Call:
    return Call((CoordinatorParameters(interval_ns=_SECOND_NS),), {"first_checkpoint": 1})


def _lifecycle() -> Call:
    return Call((TaskParameters(kind=TaskKind.SOURCE),))


def _channel_end() -> Call:
    return Call((0, []))


def _edge() -> Call:
    return Call(
        (barriers.Barrier(1, 0, barriers.OptionKind.ALIGNED),), {"supports_unaligned": True}
    )


def _recovered_input() -> Call:
    assignment = GateAssignment(
        old_subtasks=(0,), old_channels=((0,),), identity=True, ambiguous=()
    )
    return Call((assignment, 1), {"accepts": bool})


def _close_store(store: StoreVersions) -> None:
    store.client.medium.close()


_WHOLE = (
    Slot(
        name="ordering",
        says="when a state may be returned to the platform",
        takes="(parameters: OrderingParameters)",
        gives="OrderingDoor",
        ours="ckptsim.models.ordering:make_core",
        links=("ordering", "composed"),
        suites=("ordering",),
        whole=True,
        sample=_ordering,
        protocol=protocols.OrderingDoor,
    ),
    Slot(
        name="handler",
        says="when the barriers of a task's channels make it take a checkpoint",
        takes="(kind: HandlerKind, channels: int, *, gates: int, after_finish: bool)",
        gives="BarrierHandler",
        ours="ckptsim.models.barriers:make_handler",
        links=_JOBS,
        suites=("barriers",),
        whole=True,
        sample=_handler,
        protocol=protocols.BarrierHandler,
    ),
    Slot(
        name="coordinator",
        says="when checkpoints are triggered, complete, fail, and who is told",
        takes=(
            "(parameters: CoordinatorParameters, *, first_checkpoint: int, "
            "completed: tuple[int, ...])"
        ),
        gives="CheckpointCoordinator",
        ours="ckptsim.models.coordinator:CheckpointCoordinator",
        links=_JOBS,
        whole=True,
        sample=_coordinator,
        protocol=protocols.Coordinator,
    ),
    Slot(
        name="lifecycle",
        says="how a task ends: end of data, its acknowledgement, final checkpoint, closing",
        takes="(parameters: TaskParameters)",
        gives="TaskLifecycle",
        ours="ckptsim.models.lifecycle:TaskLifecycle",
        links=_JOBS,
        suites=("final_checkpoint",),
        whole=True,
        sample=_lifecycle,
        protocol=protocols.Lifecycle,
    ),
    Slot(
        name="channel_state",
        says="when the in-flight data of a group of subtasks is written, and what is answered",
        takes="(subtasks: list[int])",
        gives="SharedStateWriter",
        ours="ckptsim.models.barriers:SharedStateWriter",
        links=_JOBS,
        whole=True,
        sample=lambda: Call(([0],)),
        protocol=protocols.ChannelStateWriter,
    ),
    Slot(
        name="global_committer",
        says="which files of parallel writers one commit has, and when",
        takes="(writers: int)",
        gives="GlobalCommitter",
        ours="ckptsim.models.committer:GlobalCommitter",
        links=_RECORD_JOBS,
        whole=True,
        sample=lambda: Call((2,)),
        protocol=protocols.GlobalCommitter,
    ),
    Slot(
        name="enumerator",
        says="which reader gets which split, and what a checkpoint has of splits",
        takes="(readers: int)",
        gives="SplitEnumerator",
        ours="ckptsim.models.enumerator:SplitEnumerator",
        links=_RECORD_JOBS,
        whole=True,
        sample=lambda: Call((2,)),
        protocol=protocols.SplitEnumerator,
    ),
    Slot(
        name="acknowledger",
        says="up to where the owner of a source's log may cut it",
        takes="()",
        gives="Acknowledger",
        ours="ckptsim.models.acknowledger:Acknowledger",
        links=_RECORD_JOBS,
        whole=True,
        sample=Call,
        protocol=protocols.Acknowledger,
    ),
    Slot(
        name="store",
        says="where a checkpoint lies relative to its data, and what survives a crash",
        takes="(placement: Placement)",
        gives="StoreVersions",
        ours="ckptsim.models.store:make_store",
        links=("checkpoint_store", "composed"),
        suites=("checkpoint_store",),
        whole=True,
        sample=lambda: Call((Placement.EXTERNAL,)),
        close=_close_store,
        protocol=protocols.Store,
    ),
)

_PARTS = (
    Slot(
        name="subtask",
        says="a subtask's part in a checkpoint, from the trigger to the acknowledgement",
        takes="()",
        gives="SubtaskCheckpoints",
        ours="ckptsim.models.barriers:SubtaskCheckpoints",
        links=_JOBS,
        sample=Call,
        of=barriers.SubtaskCheckpoints,
    ),
    Slot(
        name="input_channel",
        says="the receiver's queue of a channel, and what of it is persisted",
        takes="(index: int, outbox: list[NetworkEffect])",
        gives="RemoteInputChannel",
        ours="ckptsim.models.barriers:RemoteInputChannel",
        links=_JOBS,
        suites=("channel_state",),
        sample=_channel_end,
        of=barriers.RemoteInputChannel,
    ),
    Slot(
        name="output_subpartition",
        says="the sender's queue of a channel, and which barriers overtake in it",
        takes="(index: int, outbox: list[NetworkEffect])",
        gives="Subpartition",
        ours="ckptsim.models.barriers:Subpartition",
        links=_JOBS,
        suites=("channel_state",),
        sample=_channel_end,
        of=barriers.Subpartition,
    ),
    Slot(
        name="edge",
        says="as what a barrier is sent over an edge that must keep its order, or need not",
        takes="(barrier: Barrier, *, supports_unaligned: bool)",
        gives="Barrier",
        ours="ckptsim.sim.slots.cores:over_edge",
        links=_JOBS,
        sample=_edge,
        of=barriers.Barrier,
        is_rule=True,
    ),
    Slot(
        name="end_of_data",
        says="whether a final checkpoint is asked for, as all tasks have ended their data",
        takes="(tasks: int, *, enabled: bool)",
        gives="EndOfDataListener",
        ours="ckptsim.models.coordinator:EndOfDataListener",
        links=_JOBS,
        sample=lambda: Call((1,), {"enabled": True}),
        of=EndOfDataListener,
    ),
    Slot(
        name="failover",
        says="what becomes of a job that fails around a stop with savepoint",
        takes="(*, stop_completed: bool)",
        gives="Recovery",
        ours="ckptsim.models.coordinator:after_failure",
        links=_JOBS,
        sample=lambda: Call((), {"stop_completed": False}),
        of=Recovery,
        is_rule=True,
    ),
    Slot(
        name="watermarks",
        says="the event time of a task, of watermarks and statuses of its channels",
        takes="(channels: int)",
        gives="WatermarkValve",
        ours="ckptsim.models.lifecycle:WatermarkValve",
        links=_RECORD_JOBS,
        sample=lambda: Call((1,)),
        of=WatermarkValve,
    ),
    Slot(
        name="assignment",
        says="which in-flight data of old channels goes into which new one, at a rescale",
        takes="()",
        gives="InFlightAssignment",
        ours="ckptsim.models.recovery:InFlightAssignment",
        links=_RECORD_JOBS,
        sample=Call,
        of=InFlightAssignment,
    ),
    Slot(
        name="recovered_input",
        says="how a gate takes in-flight data of old channels over, and when it is done",
        takes="(assignment: GateAssignment, channels: int, *, accepts: Callable[[int], bool])",
        gives="RecoveredInput",
        ours="ckptsim.models.recovery:RecoveredInput",
        links=_RECORD_JOBS,
        sample=_recovered_input,
        of=RecoveredInput,
    ),
    Slot(
        name="induced",
        says="when a task takes a checkpoint by itself, or a message forces it to",
        takes="()",
        gives="TaskProtocol",
        ours="ckptsim.models.uncoordinated:InducedTask",
        links=_RECORD_JOBS,
        sample=Call,
        protocol=protocols.TaskProtocol,
    ),
    Slot(
        name="recovery_line",
        says="of which checkpoints of single tasks a job is restarted, without barriers",
        takes="(channels: Sequence[LineChannel], begin: Sequence[Checkpoint], *, logged: bool)",
        gives="RecoveryLine",
        ours="ckptsim.models.uncoordinated:RecoveryLine",
        links=_RECORD_JOBS,
        sample=lambda: Call(((), ()), {"logged": True}),
        protocol=protocols.RecoveryLines,
    ),
)

# Parts of a pipeline where two links meet; a world makes them with what it is made of.
_OF_PIPELINES = (
    Slot(
        name="sink",
        says="what a sink does to its transactions, and which of them a snapshot holds",
        takes="(sinks, place, *, committer, settled)",
        gives="SinkWriter",
        ours="ckptsim.sim.job.control.sinks.sink:SinkWriter",
        links=("composed",),
    ),
    Slot(
        name="committer",
        says="how transactions go into the store, in which order, and which are found there again",
        takes="(attempt, store, key)",
        gives="Committer",
        ours="ckptsim.sim.composed.destination.committer:Committer",
        links=("composed",),
    ),
    Slot(
        name="destination",
        says="when the records of a pipeline are reported as durable",
        takes="(attempt)",
        gives="PipelineDestination",
        ours="ckptsim.sim.composed.destination:PipelineDestination",
        links=("composed",),
    ),
)

# Parts of the coordinator that have vectors of their own and no place in a world.
_OF_VECTORS = (
    Slot(
        name="request_decider",
        says="which request for a checkpoint is carried out, dropped or put off",
        takes="(*, max_concurrent: int, min_pause_ns: int, max_queued: int)",
        gives="RequestDecider",
        ours="ckptsim.models.coordinator.requests:RequestDecider",
        suites=("coordinator",),
        sample=lambda: Call((), {"max_concurrent": 1, "min_pause_ns": 0, "max_queued": 1000}),
        protocol=protocols.Decider,
    ),
    Slot(
        name="failure_counter",
        says="which failures of checkpoints count",
        takes="(tolerable: int)",
        gives="FailureCounter",
        ours="ckptsim.models.coordinator.failures:FailureCounter",
        suites=("coordinator",),
        sample=lambda: Call((0,)),
        protocol=protocols.Counter,
    ),
    Slot(
        name="debloater",
        says="how large a network buffer may be",
        takes="(parameters: DebloatParameters)",
        gives="BufferDebloater",
        ours="ckptsim.models.coordinator.debloater:BufferDebloater",
        suites=("coordinator",),
        sample=lambda: Call((DebloatParameters(),)),
        protocol=protocols.Debloater,
    ),
)

SLOTS: dict[str, Slot] = {
    slot.name: slot for slot in (*_WHOLE, *_PARTS, *_OF_PIPELINES, *_OF_VECTORS)
}


def slots_of(*places: str) -> list[Slot]:
    """Return the slots of links, and of suites of conformance vectors, the whole cores first.

    places: names of links; of suites, as `suite NAME`, since some are called as links are.
    """
    return [slot for slot in SLOTS.values() if any(place in slot.places for place in places)]
