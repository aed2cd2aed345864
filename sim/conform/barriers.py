"""Run the vectors of suite `barriers` through a barrier handler.

A small host stands around the handler: it keeps the manual clock and the timers (which fire at
their due time, on demand, or even after they were cancelled), lets the initialising or starting of
an input fail once where the vector says so, and writes every effect down in the words of the
vectors.
"""

from __future__ import annotations

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
from ckptsim.sim.conform.runner import Adapter, Mismatch, Vector
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
ALL_BARRIERS = {
    AllBarriers.OPEN: "open",
    AllBarriers.DONE: "done",
    AllBarriers.FAILED: "failed",
}

Call = list[Any]


@dataclass(slots=True)
class _Timer:
    handle: int
    due_ns: int
    barrier: Barrier
    cancelled: bool = False


class _Host:
    """Carries the handler's effects out and writes them down."""

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
        """Move the clock; automatic timers fire on the way, each at its time."""
        if self.policy == "auto":
            while due := [timer for timer in self.timers if timer.due_ns <= to_ns]:
                first = min(due, key=lambda timer: (timer.due_ns, timer.handle))
                self.now_ns = max(self.now_ns, first.due_ns)
                self._fire(first)
        self.now_ns = to_ns

    def fire_timers(self) -> None:
        """Fire everything that is due, in the order in which it was set."""
        for timer in [timer for timer in self.timers if timer.due_ns <= self.now_ns]:
            if timer in self.timers:
                self._fire(timer)

    def _fire(self, timer: _Timer) -> None:
        self.timers.remove(timer)
        self.calls.append(["timer_fire"])
        self.feed(handler_events.TimerFired(self.now_ns, timer.barrier))

    def _carry_out(self, effect: handler_events.HandlerEffect) -> bool:
        match effect:
            case handler_events.BlockChannel():
                self.blocked.add(effect.channel)
                self.calls.append(["block", effect.channel])
            case handler_events.ResumeChannels():
                self.blocked.difference_update(effect.channels)
                self.calls.extend(["resume", channel] for channel in effect.channels)
            case handler_events.PrioritizeBarriers():
                self.calls.extend(["priority", *place] for place in effect.places)
            case handler_events.InitializeInput():
                self.calls.append(["init", effect.barrier.checkpoint, MODES[effect.barrier.kind]])
                failed, self.fail_init = self.fail_init, False
                return not failed
            case handler_events.StartInput():
                barrier = effect.barrier
                self.calls.append(["started", effect.gate, barrier.checkpoint, MODES[barrier.kind]])
                failed, self.fail_start = self.fail_start, False
                return not failed
            case _:
                self._note(effect)
        return True

    def _note(self, effect: handler_events.HandlerEffect) -> None:
        match effect:
            case handler_events.StopInput():
                self.calls.append(["stopped", effect.gate, effect.checkpoint])
            case handler_events.TriggerCheckpoint():
                delay_ms = effect.start_delay_ns // MS
                barrier = effect.barrier
                self.calls.append(["trigger", barrier.checkpoint, MODES[barrier.kind], delay_ms])
            case handler_events.AlignmentMeasured():
                self.metrics.append(
                    {
                        "checkpoint": effect.checkpoint,
                        "alignment_ms": effect.duration_ns // MS,
                        "bytes": effect.bytes,
                    }
                )
            case handler_events.AbortCheckpoint():
                self.calls.append(["abort", effect.checkpoint, effect.reason.value])
            case handler_events.SetTimer():
                due_ns = self.now_ns + effect.delay_ns
                self.timers.append(_Timer(effect.timer, due_ns, effect.barrier))
                self.calls.append(["timer_set", effect.delay_ns // MS])
            case handler_events.CancelTimer():
                self.calls.append(["timer_cancel"])
                if self.policy != "sticky":
                    self.timers = [t for t in self.timers if t.handle != effect.timer]
            case handler_events.FailTask():
                wrong = "Argument" if effect.bad_argument else "State"
                self.calls.append(["throw", f"Illegal{wrong}Exception"])
            case _:
                pass  # what the vectors do not record


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
    for number, (step, expected) in enumerate(zip(vector["steps"], vector["expect"], strict=True)):
        host.calls, host.metrics = [], []
        _do(host, step)
        found = _observe(host, expected)
        mismatch = _compare(number, step, expected, found)
        if mismatch is not None:
            return mismatch
    return None


def _do(host: _Host, step: dict[str, Any]) -> None:
    host.fail_init = host.fail_init or bool(step.get("fail_init"))
    host.fail_start = host.fail_start or bool(step.get("fail_start"))
    now_ns = host.now_ns
    match step["event"]:
        case "data":
            host.feed(handler_events.BytesProcessed(step["bytes"]))
        case "barrier" | "rpc_barrier":
            by_rpc = step["event"] == "rpc_barrier"
            host.feed(
                handler_events.BarrierArrived(
                    now_ns, step["channel"], _barrier(host, step), by_rpc=by_rpc
                )
            )
        case "announce":
            host.feed(
                handler_events.BarrierAnnounced(
                    now_ns, step["channel"], _barrier(host, step), step["seq"]
                )
            )
        case "cancel":
            host.feed(
                handler_events.CancellationArrived(now_ns, step["channel"], step["checkpoint"])
            )
        case "eop":
            host.feed(handler_events.ChannelEnded(now_ns, step["channel"]))
        case "eod":
            host.calls.append(["eod_ack", step["channel"]])
        case "advance":
            host.advance(step["t_ms"] * MS)
        case "fire_timers":
            host.fire_timers()
        case "close":
            host.feed(handler_events.HandlerClosed())
        case other:
            raise ValueError(f"unknown event {other!r}")


def _barrier(host: _Host, step: dict[str, Any]) -> Barrier:
    """Read a step's barrier; a time-out that it does not name is the vector's."""
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
    """Return a vector, and name what it looks at in our handlers only."""
    looked = (key for each in vector["expect"] for key in _INSIDE if key in each)
    return vector, tuple(dict.fromkeys(looked))


def _observe(host: _Host, expected: dict[str, Any]) -> dict[str, Any]:
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


def _compare(
    number: int, step: dict[str, Any], expected: dict[str, Any], found: dict[str, Any]
) -> Mismatch | None:
    for key in found | dict.fromkeys(expected):
        wanted = expected.get(key)
        if key == "calls" and wanted is not None:
            wanted = _in_order(wanted)
        if wanted != found.get(key):
            where = f"step {number} ({step['event']}), {key}"
            return Mismatch(where, repr(wanted), repr(found.get(key)))
    return None


ADAPTER = Adapter(run=run, slot=lambda _vector: "handler", for_hosts=_for_hosts)
