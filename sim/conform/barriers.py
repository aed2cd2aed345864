"""Run the vectors of suite `barriers` through a barrier handler.

A small host is around the handler: it keeps the manual clock and the timers, lets an input fail
once where the vector says so, and writes every effect in the words of the vectors.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ckptsim.models.barriers.barrier import MAX_TIMEOUT_NS, Barrier, OptionKind
from ckptsim.models.barriers.handler import (
    AllBarriers,
    BarrierHandler,
    BarrierTracker,
    HandlerKind,
    SingleCheckpointHandler,
    State,
    make_handler,
)
from ckptsim.models.barriers.handler import events as handler_events
from ckptsim.models.barriers.reason import FailureReason
from ckptsim.sim.conform.runner import Adapter, Mismatch, Step, Vector, compare_steps, named
from ckptsim.sim.slots import Factory

MS = 1_000_000

KINDS = {
    "aligned": HandlerKind.ALIGNED,
    "alternating": HandlerKind.ALTERNATING,
    "unaligned": HandlerKind.UNALIGNED,
    "tracker": HandlerKind.TRACKER,
}
MODES = {
    OptionKind.AT_LEAST_ONCE: "AT_LEAST_ONCE",
    OptionKind.ALIGNED: "ALIGNED",
    OptionKind.SAVEPOINT: "SAVEPOINT/ALIGNED",
    OptionKind.TIMEOUTABLE: "ALIGNED+timeout",
    OptionKind.UNALIGNED: "UNALIGNED",
    OptionKind.FORCED_ALIGNED: "FORCED_ALIGNED",
}
STATES = {
    State.WAITING: "WaitingForFirstBarrier",
    State.COLLECTING: "CollectingBarriers",
    State.ALTERNATING_WAITING: "AlternatingWaitingForFirstBarrier",
    State.ALTERNATING_COLLECTING: "AlternatingCollectingBarriers",
    State.WAITING_UNALIGNED: "AlternatingWaitingForFirstBarrierUnaligned",
    State.COLLECTING_UNALIGNED: "AlternatingCollectingBarriersUnaligned",
}
# What the vectors record of the inside of a handler, and no host asks.
_INSIDE = ("open", "state", "pending_ids", "all_barriers")
ALL_BARRIERS = {AllBarriers.OPEN: "open", AllBarriers.DONE: "done", AllBarriers.FAILED: "failed"}

Call = list[Any]


@dataclass(slots=True)
class _Timer:
    handle: int
    due_ns: int
    barrier: Barrier
    cancelled: bool = False


class _Host:
    def __init__(self, handler: BarrierHandler, timers: str, timeout_ms: int | None) -> None:
        self.handler = handler
        self.policy = timers
        self.timeout_ms = timeout_ms
        self.now_ns = 0
        self.timers: list[_Timer] = []
        self.fail_init = False
        self.fail_start = False
        self.blocked: set[int] = set()
        self.calls: list[Call] = []
        self.metrics: list[dict[str, int]] = []

    def feed(self, event: handler_events.HandlerEvent) -> None:
        """Give an event to the handler and carry its effects out until one is refused."""
        for effect in self.handler.step(event):
            if not self._carry_out(effect):
                reason = FailureReason.CHECKPOINT_DECLINED_SUBSUMED
                self.feed(handler_events.InputRefused(self.now_ns, reason))
                return

    def advance(self, to_ns: int) -> None:
        """Move the clock. Automatic timers fire on the way, each at its time."""
        if self.policy == "auto":
            while due := [timer for timer in self.timers if timer.due_ns <= to_ns]:
                first = min(due, key=lambda timer: (timer.due_ns, timer.handle))
                self.now_ns = max(self.now_ns, first.due_ns)
                self._fire(first)
        self.now_ns = to_ns

    def fire_timers(self) -> None:
        for timer in [timer for timer in self.timers if timer.due_ns <= self.now_ns]:
            if timer in self.timers:
                self._fire(timer)

    def _fire(self, timer: _Timer) -> None:
        self.timers.remove(timer)
        self.calls.append(["timer_fire"])
        self.feed(handler_events.TimerFired(self.now_ns, timer.barrier))

    def _carry_out(self, effect: handler_events.HandlerEffect) -> bool:
        """Carry an effect out and write it down. False where the host refuses it."""
        match effect:
            case handler_events.ResumeChannels():
                self.blocked.difference_update(effect.channels)
                self.calls.extend(["resume", channel] for channel in effect.channels)
            case handler_events.PrioritizeBarriers():
                self.calls.extend(["priority", *place] for place in effect.places)
            case handler_events.AlignmentMeasured(checkpoint, duration_ns, size):
                self.metrics.append(
                    {"checkpoint": checkpoint, "alignment_ms": duration_ns // MS, "bytes": size}
                )
            case _ if type(effect) in _CALLS:
                self.calls.append(_CALLS[type(effect)](effect))
        match effect:
            case handler_events.BlockChannel():
                self.blocked.add(effect.channel)
            case handler_events.InitializeInput():
                failed, self.fail_init = self.fail_init, False
                return not failed
            case handler_events.StartInput():
                failed, self.fail_start = self.fail_start, False
                return not failed
            case handler_events.SetTimer():
                due_ns = self.now_ns + effect.delay_ns
                self.timers.append(_Timer(effect.timer, due_ns, effect.barrier))
            case handler_events.CancelTimer() if self.policy != "sticky":
                self.timers = [t for t in self.timers if t.handle != effect.timer]
        return True


# The effects that vectors record as one call. Others they do not record.
_CALLS: dict[type, Callable[[Any], Call]] = {
    handler_events.BlockChannel: lambda e: ["block", e.channel],
    handler_events.InitializeInput: lambda e: ["init", *_named(e.barrier)],
    handler_events.StartInput: lambda e: ["started", e.gate, *_named(e.barrier)],
    handler_events.StopInput: lambda e: ["stopped", e.gate, e.checkpoint],
    handler_events.TriggerCheckpoint: lambda e: [
        "trigger",
        *_named(e.barrier),
        e.start_delay_ns // MS,
    ],
    handler_events.AbortCheckpoint: lambda e: ["abort", e.checkpoint, e.reason.value],
    handler_events.SetTimer: lambda e: ["timer_set", e.delay_ns // MS],
    handler_events.CancelTimer: lambda _: ["timer_cancel"],
    handler_events.FailTask: lambda e: [
        "throw",
        "IllegalArgumentException" if e.bad_argument else "IllegalStateException",
    ],
}


def _named(barrier: Barrier) -> Call:
    return [barrier.checkpoint, MODES[barrier.kind]]


def run(vector: Vector, make: Factory | None) -> Mismatch | None:
    """Compare everything that the vector carries, step by step."""
    gates = vector.get("gates", [vector["channels"]])
    handler: BarrierHandler = (make or make_handler)(
        KINDS[vector["handler"]],
        vector["channels"],
        gates=len(gates),
        after_finish=vector["checkpoints_after_finish"],
    )
    host = _Host(handler, vector["timers"], vector.get("timeout_ms"))
    vector = vector | {
        "expect": [
            each | {"calls": _in_order(each["calls"])} if "calls" in each else each
            for each in vector["expect"]
        ]
    }
    return compare_steps(vector, lambda step, expected: _take(host, step, expected))


def _take(host: _Host, step: Step, expected: Mapping[str, Any]) -> dict[str, Any]:
    host.calls, host.metrics = [], []
    host.fail_init = host.fail_init or bool(step.get("fail_init"))
    host.fail_start = host.fail_start or bool(step.get("fail_start"))
    named(_STEPS, step["event"])(host, step)
    return _observe(host, expected)


def _barrier_arrived(host: _Host, step: Step) -> None:
    by_rpc = step["event"] == "rpc_barrier"
    barrier = _barrier(host, step)
    host.feed(handler_events.BarrierArrived(host.now_ns, step["channel"], barrier, by_rpc=by_rpc))


_STEPS: dict[str, Callable[[_Host, Step], object]] = {
    "data": lambda host, step: host.feed(handler_events.BytesProcessed(step["bytes"])),
    "barrier": _barrier_arrived,
    "rpc_barrier": _barrier_arrived,
    "announce": lambda host, step: host.feed(
        handler_events.BarrierAnnounced(
            host.now_ns, step["channel"], _barrier(host, step), step["seq"]
        )
    ),
    "cancel": lambda host, step: host.feed(
        handler_events.CancellationArrived(host.now_ns, step["channel"], step["checkpoint"])
    ),
    "eop": lambda host, step: host.feed(handler_events.ChannelEnded(host.now_ns, step["channel"])),
    "eod": lambda host, step: host.calls.append(["eod_ack", step["channel"]]),
    "advance": lambda host, step: host.advance(step["t_ms"] * MS),
    "fire_timers": lambda host, _: host.fire_timers(),
    "close": lambda host, _: host.feed(handler_events.HandlerClosed()),
}


def _barrier(host: _Host, step: Step) -> Barrier:
    """Read a step's barrier. A time-out that it does not name is the vector's."""
    kind = OptionKind[step["opt"].upper()]
    timeout_ms = step.get("timeout_ms")
    if kind is OptionKind.TIMEOUTABLE:
        timeout_ms = host.timeout_ms if timeout_ms is None else timeout_ms
        if timeout_ms is None:
            raise ValueError("found opt 'timeoutable' without timeout_ms, expected milliseconds")
        # One of zero or infinity never comes, and is an aligned barrier from the beginning.
        # Source: Apache Flink 1.20.3, CheckpointOptions.alignedWithTimeout and isTimeoutable.
        if not 0 < timeout_ms * MS < MAX_TIMEOUT_NS:
            kind, timeout_ms = OptionKind.ALIGNED, None
    timeout_ns = None if timeout_ms is None else timeout_ms * MS
    return Barrier(step["checkpoint"], step["ts"] * MS, kind, timeout_ns)


def _for_hosts(vector: Vector) -> tuple[Vector, tuple[str, ...]]:
    looked = (key for each in vector["expect"] for key in _INSIDE if key in each)
    return vector, tuple(dict.fromkeys(looked))


def _observe(host: _Host, expected: Mapping[str, Any]) -> dict[str, Any]:
    handler = host.handler
    found: dict[str, Any] = {
        "calls": _in_order(host.calls),
        "blocked": sorted(host.blocked),
        "latest": handler.latest,
        "pending": handler.pending,
        "metrics": host.metrics,
    }
    if isinstance(handler, SingleCheckpointHandler | BarrierTracker):
        found["open"] = handler.open_channels
    if isinstance(handler, SingleCheckpointHandler):
        found["state"] = STATES[handler.state]
        found["all_barriers"] = ALL_BARRIERS[handler.all_barriers(handler.latest)]
    elif isinstance(handler, BarrierTracker):
        found["pending_ids"] = list(handler.pending_checkpoints)
    else:  # no host asks for these: of a foreign core all else is compared
        found |= {key: expected[key] for key in _INSIDE if key in expected}
    return found


def _in_order(calls: list[Call]) -> list[Call]:
    """Sort runs of adjacent resumes, and of adjacent priorities: their order is arbitrary."""
    result: list[Call] = []
    run: list[Call] = []
    for call in [*calls, [""]]:
        if run and (call[0] != run[0][0] or call[0] not in ("resume", "priority")):
            result.extend(sorted(run))
            run = []
        run.append(call)
    return result


ADAPTER = Adapter(run=run, slot=lambda _vector: "handler", for_hosts=_for_hosts)
