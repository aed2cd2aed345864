"""The cores of one task of a job: which barrier handler, and which rules for its end."""

from __future__ import annotations

from inspect import unwrap
from typing import TYPE_CHECKING, Any

from ckptsim.models.barriers import handler_kind
from ckptsim.models.lifecycle import TaskKind, TaskLifecycle, TaskParameters
from ckptsim.models.lifecycle.task import NaiveLifecycle
from ckptsim.scenarios.job import Job, Protocol, Vertex, VertexKind
from ckptsim.sim.job.control.task.task import TaskCores
from ckptsim.sim.job.settings import variant_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ckptsim.sim.slots import ProtocolCores


def make_cores(
    factories: ProtocolCores,
    job: Job,
    vertex: Vertex,
    *,
    gate_channels: Sequence[int],
    outputs: int,
    restored_from: int | None,
    finished_on_restore: bool,
    witness: Callable[..., Any],
) -> TaskCores:
    """Return the cores of a task, which the run's witness looks at. A source has no handler.

    gate_channels: how many channels each input gate has. outputs: how many channels there are to
    other tasks.  restored_from: the checkpoint that the attempt begins from.
    """
    checkpointing, ending = job.checkpointing, job.ending
    handler = None
    kind = handler_kind(
        exactly_once=checkpointing.exactly_once, unaligned_enabled=checkpointing.unaligned
    )
    if gate_channels:
        handler = factories.handler(
            kind,
            sum(gate_channels),
            gates=len(gate_channels),
            after_finish=checkpointing.after_finish,
        )
    parameters = TaskParameters(
        kind=TaskKind.SOURCE if vertex.is_source else TaskKind.NON_SOURCE,
        variant=variant_of(job),
        gate_channels=tuple(gate_channels),
        output_channels=outputs,
        chain=vertex.chain,
        checkpointing=checkpointing.coordinated,
        checkpoints_after_finish=checkpointing.after_finish,
        restored_from=restored_from,
        finished_on_restore=finished_on_restore,
        sink_opens_after_finish=(
            vertex.opens_after_finish if vertex.kind is VertexKind.SINK else None
        ),
        await_acknowledgements=ending.acknowledgements,
    )
    if ending.protocol is Protocol.NAIVE and unwrap(factories.lifecycle) is TaskLifecycle:
        lifecycle = witness("naive lifecycle", NaiveLifecycle(parameters), parameters)
    else:
        lifecycle = factories.lifecycle(parameters)
    cores = TaskCores(
        handler=handler,
        subtask=factories.subtask(),
        lifecycle=lifecycle,
        chain=0 if finished_on_restore else vertex.chain,
        kind=kind,
    )
    witnessed: TaskCores = witness("task", cores)
    return witnessed
