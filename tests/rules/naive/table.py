"""Which rules run beside the core of which slot, and which walk alone at the beginning of a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from ckptsim.models.barriers import HandlerKind, LocalInputChannel
from ckptsim.models.ordering import Medium, OrderingParameters, StreamDescriptor
from ckptsim.models.ordering.source import SourceCore
from ckptsim.models.recovery.detection import FailureDetector, HeartbeatParameters
from ckptsim.models.recovery.failover import Failover
from ckptsim.models.recovery.persistence import ChannelLog, LentCredit
from ckptsim.models.recovery.restart import RestartStrategy
from ckptsim.models.recovery.restore import TaskRestore
from ckptsim.models.store.ingestion import PartitionIngestion
from ckptsim.models.uncoordinated import IndependentTask
from ckptsim.sim.rules.answers import Pick
from tests.rules.naive import recovery, store
from tests.rules.naive.beside import Differential, Walk
from tests.rules.naive.calls import (
    FunctionRules,
    Functions,
    called,
    flushable,
    function,
    methods,
)
from tests.rules.naive.channels import InputChannelRules, SubpartitionRules
from tests.rules.naive.coordinator import CoordinatorRules, drawn_parameters
from tests.rules.naive.functions import (
    CORES,
    DRAWS,
    NAIVE,
    DebloaterCore,
    DebloaterRules,
    drawn_debloating,
    wire,
)
from tests.rules.naive.functions import store as of_store
from tests.rules.naive.handler import handler_rules
from tests.rules.naive.lifecycle import LifecycleRules, drawn_task
from tests.rules.naive.naive import Rules
from tests.rules.naive.ordering import OrderingRules
from tests.rules.naive.small import (
    AfterFailureRules,
    AssignmentRules,
    EdgeRules,
    EndOfDataRules,
    LocalChannelRules,
    WatermarkRules,
)
from tests.rules.naive.source import SourceRules, drawn_source
from tests.rules.naive.subtask import SubtaskRules
from tests.rules.naive.writer import WriterRules

# Slot, or name of a core that its host makes itself -> rules, made from what the core is.
RULES: Mapping[str, Callable[..., Rules]] = {
    "ordering": OrderingRules,
    "coordinator": CoordinatorRules,
    "handler": handler_rules,
    "channel_state": WriterRules,
    "subtask": SubtaskRules,
    "lifecycle": LifecycleRules,
    "induced": recovery.TaskRules,
    "recovery_line": recovery.LineRules,
    "recovered_input": recovery.RecoveredInputRules,
    "source": SourceRules,
    "restore": recovery.RestoreRules,
    "restart strategy": recovery.RestartRules,
    "course of failures": recovery.FailoverRules,
    "failure detector": recovery.DetectionRules,
}


def _ordering(pick: Pick) -> tuple[tuple[Any, ...], dict[str, Any]]:
    parameters = OrderingParameters(
        medium=pick.of(tuple(Medium)),
        streams=tuple(StreamDescriptor(name) for name in "abc"[: pick.integer(1, 3)]),
        channels=pick.integer(1, 2),
        released_ids_kept=pick.of((0, 1, 2, 1024)),
    )
    return (parameters,), {}


def _coordinator(pick: Pick) -> tuple[tuple[Any, ...], dict[str, Any]]:
    first = {"first_checkpoint": pick.integer(1, 4), "completed": pick.of(((), (), (1, 3)))}
    return (drawn_parameters(pick),), first


def _handler(pick: Pick) -> tuple[tuple[Any, ...], dict[str, Any]]:
    kind, channels = pick.of(tuple(HandlerKind)), pick.integer(1, 4)
    gates, after_finish = pick.integer(1, min(2, channels)), not pick.one_in(5)
    return (kind, channels), {"gates": gates, "after_finish": after_finish}


def _writer(pick: Pick) -> tuple[tuple[Any, ...], dict[str, Any]]:
    return (list(range(pick.integer(1, 3))),), {}


def _nothing(_: Pick) -> tuple[tuple[Any, ...], dict[str, Any]]:
    return (), {}


def _lifecycle(pick: Pick) -> tuple[tuple[Any, ...], dict[str, Any]]:
    return (drawn_task(pick),), {}


def _channel(_: Pick) -> tuple[tuple[Any, ...], dict[str, Any]]:
    return (3, []), {}


def _tasks(pick: Pick) -> tuple[tuple[Any, ...], dict[str, Any]]:
    return (pick.integer(1, 3),), {"enabled": not pick.one_in(4)}


def _gate(pick: Pick) -> tuple[tuple[Any, ...], dict[str, Any]]:
    return (pick.integer(1, 4),), {}


def _strategy(pick: Pick) -> tuple[tuple[Any, ...], dict[str, Any]]:
    return (recovery.drawn_strategy(pick),), {}


def _detector(pick: Pick) -> tuple[tuple[Any, ...], dict[str, Any]]:
    threshold = pick.of((None, 1, 2, 3))
    parameters = HeartbeatParameters(interval_ns=10, timeout_ns=50, rpc_failure_threshold=threshold)
    return (parameters,), {}


def _source(pick: Pick) -> tuple[tuple[Any, ...], dict[str, Any]]:
    return (drawn_source(pick),), {}


def _debloater(pick: Pick) -> tuple[tuple[Any, ...], dict[str, Any]]:
    return (drawn_debloating(pick),), {}


def _credit(pick: Pick) -> tuple[tuple[Any, ...], dict[str, Any]]:
    return (), {"sender": pick.integer(1, 4), "receiver": pick.integer(1, 4)}


_SYNC: Mapping[str, Walk] = {
    "ordering": Walk(_ordering, OrderingRules, events=80),
    "source": Walk(_source, SourceRules, SourceCore),
    "messages": Walk(
        _nothing,
        partial(FunctionRules, wire.NAIVE, wire.DRAWS),
        partial(Functions, wire.CORES),
    ),
}
_JOB: Mapping[str, Walk] = {
    "coordinator": Walk(_coordinator, CoordinatorRules, events=60, times=2),
    "handler": Walk(_handler, partial(handler_rules, counts_bytes=True), times=2),
    "channel_state": Walk(_writer, WriterRules, times=2),
    "subtask": Walk(_nothing, SubtaskRules, times=2),
    "lifecycle": Walk(_lifecycle, LifecycleRules, times=2),
    "input_channel": Walk(_channel, InputChannelRules, adapt=called, times=3),
    "output_subpartition": Walk(_channel, SubpartitionRules, adapt=flushable, times=4),
    "local input channel": Walk(_channel, LocalChannelRules, LocalInputChannel, called, times=3),
    "end_of_data": Walk(_tasks, EndOfDataRules, adapt=methods),
    "watermarks": Walk(_gate, WatermarkRules, adapt=methods, events=60),
    "failover": Walk(_nothing, AfterFailureRules, adapt=function),
    "edge": Walk(_nothing, EdgeRules, adapt=function),
    "assignment": Walk(_nothing, AssignmentRules, adapt=methods),
    "recovered_input": Walk(recovery.drawn_gate, recovery.RecoveredInputRules, times=2),
    "restore": Walk(lambda pick: ((pick.integer(0, 2),), {}), recovery.RestoreRules, TaskRestore),
    "restart strategy": Walk(_strategy, recovery.RestartRules, RestartStrategy),
    "restart parameters": Walk(_nothing, recovery.StrategyRules, recovery.StrategyMaker),
    "course of failures": Walk(_nothing, recovery.FailoverRules, Failover),
    "failure detector": Walk(_detector, recovery.DetectionRules, FailureDetector, times=2),
    "functions": Walk(
        _nothing, partial(FunctionRules, NAIVE, DRAWS), partial(Functions, CORES), events=120
    ),
    "debloater": Walk(_debloater, DebloaterRules, DebloaterCore),
    "induced": Walk(_nothing, recovery.TaskRules),
    "independent task": Walk(_nothing, partial(recovery.TaskRules, induced=False), IndependentTask),
    "recovery_line": Walk(recovery.drawn_line, recovery.LineRules),
    "channel log": Walk(_nothing, recovery.LogRules, ChannelLog, methods),
    "lent credit": Walk(_credit, recovery.CreditRules, LentCredit, methods),
}
_STORE: Mapping[str, Walk] = {
    "ingestion": Walk(store.drawn_ingestion, store.IngestionRules, PartitionIngestion),
    "store": Walk(store.drawn_client, store.ClientRules, adapt=store.client),
    "interfaces before": Walk(store.drawn_generation, store.GenerationRules, store.GenerationCore),
    "small parts": Walk(
        _nothing,
        partial(FunctionRules, of_store.NAIVE, of_store.DRAWS),
        partial(Functions, of_store.CORES),
    ),
}
# Link -> slot -> how its core walks.
WALKS: Mapping[str, Mapping[str, Walk]] = {
    "ordering": _SYNC,
    "barriers": _JOB,
    "barrier_protocol": _JOB,
    "final_checkpoint": _JOB,
    "checkpoint_store": _STORE,
    "composed": {**_SYNC, **_JOB, **_STORE},
}
# Where a run is short, so that its walks do not take longer than itself; an assumption.
_EACH = {"ordering": 1, "checkpoint_store": 2}
# Of how many runs one has walks, and one has rules beside its cores (assumptions): a run without
# either takes a third of the time.  What they find they find soon; what needs a certain scenario is
# found the sooner the more are run.  Hosts are judged by their duties in all.  By the seed, so that
# a run that is repeated is looked at in the same way.
_WALKS_EVERY = 6
_RULES_EVERY = 2


def differential(link: str, seed: int, *, mutants: bool = False) -> Differential:
    """Return what compares the cores of one run of a link with their rules."""
    rules = {} if seed % _RULES_EVERY else RULES
    walks = {} if seed % _WALKS_EVERY else WALKS.get(link, {})
    each = _EACH.get(link, 4)
    return Differential(rules, walks, each=each, seed=seed, mutants=mutants)


def of_mutants(link: str, seed: int) -> Differential:
    """Return the same, with rules beside mutants as well."""
    return differential(link, seed, mutants=True)
