"""The contract of an ordering core's effects."""

from __future__ import annotations

from typing import Any

from ckptsim.models.ordering import Medium, OrderingParameters, StateKind, StreamDescriptor
from ckptsim.models.ordering import events as ordering_effects
from ckptsim.models.ordering import events as ordering_events
from ckptsim.scenarios.dialect import exact_text
from ckptsim.sim.rules.contract.contract import Contract


class OrderingContract(Contract):
    """Streams are opened, records are passed on once, channels end, and the end has its timer."""

    def __init__(self, parameters: OrderingParameters) -> None:
        super().__init__()
        self._parameters = parameters
        self._opened: dict[StreamDescriptor, None] = {}
        self._ended: dict[StreamDescriptor, None] = {}
        self._passed = 0
        self._sending = False
        self._wait_ns: int | None = None  # of an end that was asked for without a verdict
        self._timer = False
        self._over = False

    def _before(self, now_ns: int, event: Any) -> None:
        self._passed = 0
        match event:
            case ordering_events.StateSent() | ordering_events.SendFailed():
                self._sending = False
            case ordering_events.FinishRequested(wait_ns=wait_ns):
                self._wait_ns = wait_ns
            case ordering_events.FinishTimerFired() if self._timer:
                self._timer, self._wait_ns = False, 0

    def _effect(self, now_ns: int, event: Any, effect: Any) -> None:  # noqa: C901 - one per effect
        match effect:
            case ordering_effects.OpenStream(stream=stream):
                if stream in self._opened:
                    self.owe(f"it opens stream {stream} twice")
                self._opened[stream] = None
            case ordering_effects.PassRecords(stream=stream, count=count):
                self._passed += count
                if stream not in self._opened:
                    self.owe(f"it passes records of stream {stream} on, which it has not opened")
            case ordering_effects.SendState():
                self._sending = True
                listed = effect.kind is not StateKind.STREAM
                missing = listed and not effect.statistics.per_stream
                if missing and self._parameters.medium is Medium.SOCKET:
                    self.owe(f"it sends state {effect.key.index} without the counts per stream")
            case ordering_effects.SetFinishTimer(wait_ns=wait_ns):
                if self._wait_ns is not None and wait_ns != self._wait_ns:
                    says = f"it waits {exact_text(wait_ns)} for its end"
                    self.owe(f"{says}, and was asked to wait {exact_text(self._wait_ns)}")
                self._timer = True
            case ordering_effects.CancelFinishTimer():
                self._timer = False
            case ordering_effects.EndStream(stream=stream):
                if stream in self._ended:
                    self.owe(f"it ends stream {stream} twice")
                self._ended[stream] = None
            case ordering_effects.CompleteSync() | ordering_effects.FailSync():
                self._over = True

    def _after(self, now_ns: int, event: Any) -> None:
        if isinstance(event, ordering_events.RecordsRead) and self._passed != event.count:
            self.owe(f"it passes {self._passed} records on, and {event.count} were read")
        if self._wait_ns is None or self._over or self._sending:
            return
        if self._wait_ns == 0:
            self.owe("its end was asked for, and it gives no verdict")
        elif not self._timer:
            self.owe("its end was asked for, and it neither gives a verdict nor sets its timer")
