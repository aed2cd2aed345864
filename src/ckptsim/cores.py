"""The protocol cores, each with the events that it takes and the effects that it answers with.

They need the standard library alone, have no clock and no I/O, and can be put into a system of
your own. An implementation of your own that has the same door can be put into a simulation.

| core | made by | events and effects |
|---|---|---|
| order of source states | `ordering.make_core` | `ordering` |
| positions of a source's states | `source.SourceCore` | `source` |
| barrier handler of a task | `barriers.make_handler` | `handler_events` |
| input channel, with in-flight data | `barriers.RemoteInputChannel` | `channel_effects` |
| output subpartition, the same | `barriers.Subpartition` | `channel_effects` |
| subtask side of a checkpoint | `barriers.SubtaskCheckpoints` | `subtask_events` |
| writer of in-flight data | `barriers.SharedStateWriter` | `writer_events` |
| checkpoint coordinator | `coordinator.CheckpointCoordinator` | `coordinator_events` |
| lifecycle of a task | `lifecycle.TaskLifecycle` | `lifecycle_events`, `lifecycle_effects` |
| event time of a task | `lifecycle.WatermarkValve` | methods, no events |
| acknowledger of a log | `acknowledger.Acknowledger` | `acknowledger` |
| split enumerator of a source | `enumerator.SplitEnumerator` | `enumerator` |
| global committer of a sink | `committer.GlobalCommitter` | `committer` |
| checkpoint store | `store.StoreClient`, `store.StoreVersions` | methods, no events |
| fence of a shared store | `fence.Fence` | `fence` |
| positions in two logs | `positions.Positions` | `positions` |
| failure detection | `recovery.FailureDetector` | `detection` |
| restart strategy | `recovery.RestartStrategy` | `restart` |
| failover of a job | `recovery.Failover` | `failover` |
| restore of a task | `recovery.TaskRestore` | `restore` |
| redistribution of state | functions of `recovery`, `recovery.InFlightAssignment` | none |
| gate with in-flight data of old channels | `recovery.RecoveredInput` | `recovered_input` |
| checkpoints of a task without barriers | `uncoordinated.InducedTask` | `uncoordinated` |
| recovery line of single tasks' checkpoints | `uncoordinated.RecoveryLine` | `uncoordinated` |
"""

from ckptsim.models import (
    acknowledger,
    barriers,
    committer,
    coordinator,
    enumerator,
    lifecycle,
    ordering,
    recovery,
    store,
    uncoordinated,
)
from ckptsim.models.barriers import channel_state as writer_events
from ckptsim.models.barriers.channels import network as channel_effects
from ckptsim.models.barriers.handler import events as handler_events
from ckptsim.models.barriers.subtask import events as subtask_events
from ckptsim.models.coordinator import events as coordinator_events
from ckptsim.models.core import Core, ProtocolError
from ckptsim.models.lifecycle import effects as lifecycle_effects
from ckptsim.models.lifecycle import events as lifecycle_events
from ckptsim.models.ordering import source
from ckptsim.models.recovery import detection, failover, recovered_input, restart, restore
from ckptsim.models.store import fence, positions

__all__ = [
    "Core",
    "ProtocolError",
    "acknowledger",
    "barriers",
    "channel_effects",
    "committer",
    "coordinator",
    "coordinator_events",
    "detection",
    "enumerator",
    "failover",
    "fence",
    "handler_events",
    "lifecycle",
    "lifecycle_effects",
    "lifecycle_events",
    "ordering",
    "positions",
    "recovered_input",
    "recovery",
    "restart",
    "restore",
    "source",
    "store",
    "subtask_events",
    "uncoordinated",
    "writer_events",
]
