"""The cores of one task of a job: which barrier handler, and which rules for its end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ckptsim.models.barriers import HandlerKind
from ckptsim.models.lifecycle import TaskKind, TaskLifecycle, TaskParameters
from ckptsim.models.lifecycle.naive import NaiveLifecycle
from ckptsim.scenarios.job import Mode, Protocol, VertexKind
from ckptsim.sim.job.control.task import TaskCores
from ckptsim.sim.job.settings import variant_of

if TYPE_CHECKING:
    from ckptsim.sim.job.records.attempt import Attempt
    from ckptsim.sim.job.records.graph import TaskSpec

_HANDLERS = {
    Mode.ALIGNED: HandlerKind.ALIGNED,
    Mode.UNALIGNED: HandlerKind.ALTERNATING,
    Mode.ALIGNED_TIMEOUT: HandlerKind.ALTERNATING,
    Mode.AT_LEAST_ONCE: HandlerKind.TRACKER,
}


def make_cores(attempt: Attempt, spec: TaskSpec, *, finished_on_restore: bool) -> TaskCores:
    """Return the cores of a task; a source has no barrier handler."""
    gates = attempt.graph.gates[spec.index]
    checkpointing = attempt.job.checkpointing
    handler = None
    if gates:
        handler = attempt.cores.handler(
            _HANDLERS[checkpointing.mode],
            sum(gates),
            gates=len(gates),
            after_finish=checkpointing.after_finish,
        )
    parameters = _parameters(attempt, spec, finished_on_restore=finished_on_restore)
    factory = attempt.cores.lifecycle
    if attempt.job.ending.protocol is Protocol.NAIVE and factory is TaskLifecycle:
        factory = NaiveLifecycle
    return TaskCores(
        handler=handler,
        subtask=attempt.cores.subtask(),
        lifecycle=factory(parameters),
        chain=spec.vertex.chain,
    )


def _parameters(attempt: Attempt, spec: TaskSpec, *, finished_on_restore: bool) -> TaskParameters:
    job, vertex = attempt.job, spec.vertex
    source = vertex.kind is VertexKind.SOURCE
    outputs = attempt.graph.outputs[spec.index]
    opens = vertex.opens_after_finish if vertex.kind is VertexKind.SINK else None
    return TaskParameters(
        kind=TaskKind.SOURCE if source else TaskKind.NON_SOURCE,
        variant=variant_of(job),
        gates=tuple(attempt.graph.gates[spec.index]),
        output_channels=sum(len(out.channels) for out in outputs),
        chain=vertex.chain,
        checkpointing=job.checkpointing.enabled,
        checkpoints_after_finish=job.checkpointing.after_finish,
        restored_from=attempt.restored_id,
        finished_on_restore=finished_on_restore,
        sink_opens_after_finish=opens,
        await_acknowledgements=job.ending.acknowledgements,
    )
