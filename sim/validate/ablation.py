"""Models with one mechanism left out, to see what each is worth."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from ckptsim.scenarios.job import Job, PlacementKind
from ckptsim.sim.job.buffers.constants import CONSTANTS, MECHANISMS, Constants, Mechanisms

_PLENTY = 1_000


def _same(model: Job) -> Job:
    return model


@dataclass(frozen=True, slots=True, kw_only=True)
class Ablation:
    """One wrong model on purpose: what is left out, and how."""

    name: str
    change: Callable[[Job], Job] = _same
    constants: Constants = CONSTANTS
    mechanisms: Mechanisms = MECHANISMS


def _no_flush(model: Job) -> Job:
    return replace(model, network=replace(model.network, buffer_timeout_ns=0))


def _no_channel_limit(model: Job) -> Job:
    return replace(model, network=replace(model.network, max_buffers_per_channel=_PLENTY))


def _few_floating(model: Job) -> Job:
    return replace(model, network=replace(model.network, floating_buffers=1))


def _all_remote(model: Job) -> Job:
    return replace(model, placement=PlacementKind.REMOTE)


def _no_debloat(model: Job) -> Job:
    return replace(model, network=replace(model.network, debloat=False))


def _no_network_time(model: Job) -> Job:
    network = replace(model.network, latency_ns=0, jitter_ns=0, send_ns=0)
    return replace(model, network=network)


_QUICK = replace(
    CONSTANTS,
    rpc_ns=0,
    message_cost_ns=0,
    acknowledge_cost_ns=0,
    barrier_cost_ns=0,
    complete_ns=0,
    finish_ns=0,
)
_FREE_FILES = replace(
    CONSTANTS,
    file_cost_ns=0,
    channel_file_cost_ns=0,
    channel_ns_per_mb=0,
    discard_file_ns=0,
    discard_ns_per_mb=0,
)
_EXACT_WAITS = replace(CONSTANTS, record_ns=1, park_overshoot_ns=0)
_EXACT_LIMITER = replace(CONSTANTS, limiter_overshoot_ns=0, limiter_chunk_ns=0)
_NO_PAUSES = replace(CONSTANTS, pause_ratio=0.0)

NOTHING = Ablation(name="nothing")

ABLATIONS: tuple[Ablation, ...] = (
    Ablation(
        name="the task stops before its pool is empty",
        mechanisms=replace(MECHANISMS, stops_early=False),
    ),
    Ablation(
        name="a buffer is free when its last record is read",
        mechanisms=replace(MECHANISMS, freed_when_read=False),
    ),
    Ablation(name="the limit per channel", change=_no_channel_limit),
    Ablation(name="floating buffers (all but one)", change=_few_floating),
    Ablation(name="local channels", change=_all_remote),
    Ablation(name="the flush time-out", change=_no_flush),
    Ablation(name="a flush leaves the buffer open", mechanisms=replace(MECHANISMS, slices=False)),
    Ablation(name="random keys", mechanisms=replace(MECHANISMS, random_keys=False)),
    Ablation(
        name="equal keys stay on their index", mechanisms=replace(MECHANISMS, keys_stay=False)
    ),
    Ablation(name="debloating", change=_no_debloat),
    Ablation(name="time on the network", change=_no_network_time),
    Ablation(name="messages take time", constants=_QUICK),
    Ablation(name="files take work", constants=_FREE_FILES),
    Ablation(name="shared cores", mechanisms=replace(MECHANISMS, shared_cores=False)),
    Ablation(name="waits that overshoot", constants=_EXACT_WAITS),
    Ablation(name="the limiter's overshoot", constants=_EXACT_LIMITER),
    Ablation(name="pauses of the machine", constants=_NO_PAUSES),
)
