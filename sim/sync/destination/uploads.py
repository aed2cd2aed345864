"""Batches of records on their way to storage, and the memory that pending states may use."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Protocol

from ckptsim.models.ordering import SendFailed, SendState, StateSent, scope_text
from ckptsim.scenarios.sync import Point
from ckptsim.sim.sync.vocabulary import KIND_BATCH_TIMER, KIND_SENT, KIND_STORED, KIND_UPLOADED

if TYPE_CHECKING:
    from simpy import Event

    from ckptsim.scenarios.sync import ReorderUploads
    from ckptsim.sim.kernel import Environment, Timer
    from ckptsim.sim.sync.attempt import Attempt
    from ckptsim.sim.sync.destination.destination import Destination
    from ckptsim.sim.sync.oracle.truth import SourceState
    from ckptsim.sim.sync.socket import RecordPacket


_NS_PER_S = 1_000_000_000


class Intake(Protocol):
    """What takes the records of one socket in."""

    def add(self, packet: RecordPacket, wire_id: str) -> None:
        """Take a packet that the core counts under an id."""

    def close_all(self) -> None:
        """Hand on the held data back: no record follows."""

    def room(self) -> Event | None:
        """Return the wait for room for more, or None when there is room."""


class Storage(Protocol):
    """Where records become durable."""

    @property
    def idle(self) -> bool:
        """Whether everything that was taken in has become durable."""

    @property
    def standing(self) -> int:
        """How many batches wait although fewer uploads than may be are under way."""

    def packet_read(self) -> None:
        """Note that a packet was read and all of it was added to what takes it in."""

    def socket_ended(self, *, last: bool, complete: bool) -> None:
        """Note the end of a socket, or of all. complete: no stream was found to lack its end."""


class Batch:
    """Records of one stream, read from one socket, that go to storage together."""

    __slots__ = ("count", "ids", "number", "packets", "size_bytes", "stream", "timer", "tries")

    def __init__(self, stream: int) -> None:
        self.stream = stream
        self.count = 0
        self.size_bytes = 0
        self.packets: list[RecordPacket] = []
        self.ids: list[str] = []  # beside each packet, the id under which the core counts it
        self.timer: Timer | None = None
        self.tries = 0
        self.number = 0  # of its last upload, from 1 over the run


class Pipeline:
    """What one socket's records go through: an open batch per stream."""

    def __init__(self, attempt: Attempt, uploader: Uploader, socket: int) -> None:
        self._attempt = attempt
        self._uploader = uploader
        self._entity = attempt.env.entity("pipeline", socket)
        self._open: dict[int, Batch] = {}
        table = attempt.model.destination
        self._batch_records = table.batch_records
        self._batch_delay_ns = table.batch_delay_ns

    def add(self, packet: RecordPacket, wire_id: str) -> None:
        """Add a packet to the open batch of its stream. Close the batch when it is full."""
        stream = packet.stream
        batch = self._open.get(stream)
        if batch is None:
            batch = self._open[stream] = Batch(stream)
            batch.timer = self._attempt.call_in(
                self._batch_delay_ns, KIND_BATCH_TIMER, self._entity, self._close, batch
            )
        batch.count += packet.high - packet.low
        batch.size_bytes += packet.size_bytes
        batch.packets.append(packet)
        batch.ids.append(wire_id)
        if batch.count >= self._batch_records:
            self._close(batch)

    def close_all(self) -> None:
        """Close every open batch, in the order in which they were opened."""
        for batch in list(self._open.values()):
            self._close(batch)

    def room(self) -> Event | None:
        """Return None: batches that wait for their upload are not bounded."""
        return None

    def _close(self, batch: Batch) -> None:
        del self._open[batch.stream]
        if batch.timer is not None:
            batch.timer.cancel()
        self._uploader.add(batch)


class Uploader:
    """Uploads batches to storage, a few at once, and shows the destination which are durable."""

    def __init__(self, attempt: Attempt, on_durable: Callable[[Batch], None]) -> None:
        self.busy = 0
        self._attempt = attempt
        self._on_durable = on_durable
        self._table = attempt.model.destination
        self._entity = attempt.env.entity("storage")
        self._queue: deque[Batch] = deque()
        self._held: list[tuple[ReorderUploads, Batch]] = []

    @property
    def idle(self) -> bool:
        """Whether every batch has become durable."""
        return not (self.busy or self._queue or self._held)

    def packet_read(self) -> None:
        """Do nothing: batches are closed by their size and age."""

    def socket_ended(self, *, last: bool, complete: bool) -> None:
        """Do nothing: batches are closed by the core's effects."""

    def add(self, batch: Batch) -> None:
        """Take a closed batch."""
        self._attempt.point(Point.BEFORE_UPLOAD)
        self._queue.append(batch)
        self._start()

    @property
    def standing(self) -> int:
        """Return how many batches wait although fewer uploads than may be are under way."""
        return len(self._queue) if self.busy < self._table.uploads_at_once else 0

    def _start(self) -> None:
        attempt, table = self._attempt, self._table
        while self._queue and self.busy < table.uploads_at_once:
            batch = self._queue.popleft()
            self.busy += 1
            batch.tries += 1
            batch.number = attempt.world.next_upload()
            drawn = attempt.world.draws.lognormal_ns(
                ("destination.upload", 0, batch.number),
                median_ns=table.upload_ns,
                spread=table.upload_spread,
            )
            duration = drawn + batch.size_bytes * _NS_PER_S // table.upload_bandwidth_bytes_per_s
            duration = attempt.faults.upload_ns(duration, attempt.env.now)
            if attempt.outlasts_watch(duration):
                attempt.faults.note_strike()  # by plan or by chance: its tail is long
            fields = (batch.number, batch.stream, batch.count)
            attempt.env.trace.record("upload", self._entity, *fields)
            attempt.call_in(duration, KIND_UPLOADED, self._entity, self._uploaded, batch)

    def _uploaded(self, batch: Batch) -> None:
        self.busy -= 1
        attempt = self._attempt
        if attempt.faults.upload_fails(batch.number):
            self._failed(batch)
            return
        attempt.env.trace.record("durable", self._entity, batch.number)
        window = attempt.faults.reorder(batch.number)
        if window is not None:
            self._held.append((window, batch))
        else:
            self._on_durable(batch)
        self._start()
        self._release_held()

    def _failed(self, batch: Batch) -> None:
        attempt = self._attempt
        attempt.env.trace.record("upload_failed", self._entity, batch.number)
        attempt.env.goals.reach("upload_failed")
        if batch.tries >= self._table.upload_tries:
            attempt.fail(f"upload of stream {batch.stream} failed {batch.tries} times")
        self._queue.append(batch)
        self._start()
        self._release_held()

    def _release_held(self) -> None:
        """Let a window's uploads take effect, the last begun first, once all are through."""
        while self._held:
            window = self._held[0][0]
            members = [batch for fault, batch in self._held if fault is window]
            if len(members) < window.uploads and (self.busy or self._queue):
                return
            self._held = [(fault, batch) for fault, batch in self._held if fault is not window]
            if len(members) > 1:
                self._attempt.env.goals.reach("uploads_reordered")
            for batch in sorted(members, key=lambda batch: -batch.number):
                self._on_durable(batch)


class StateMemory:
    """A number of bytes. Those who wait for some get it in the order in which they came."""

    def __init__(self, env: Environment, capacity_bytes: int) -> None:
        self.used_bytes = 0
        self._env = env
        self._capacity_bytes = capacity_bytes
        self._waiting: deque[tuple[int, Event, str]] = deque()

    @property
    def waiting(self) -> list[str]:
        """Who waits for memory, the first to get some first."""
        return [who for _, _, who in self._waiting]

    @property
    def wanted_bytes(self) -> int:
        """How many bytes anyone who waits first waits for. 0 when no one waits."""
        return self._waiting[0][0] if self._waiting else 0

    def reserve(self, size_bytes: int) -> bool:
        """Reserve memory now, or return False. A too large state waits for an empty memory."""
        if self._waiting or not self._fits(size_bytes):
            return False
        self.used_bytes += size_bytes
        return True

    def wait(self, size_bytes: int, who: str) -> Event:
        """Return the event of having reserved memory."""
        event = self._env.event()
        self._waiting.append((size_bytes, event, who))
        return event

    def free(self, size_bytes: int) -> None:
        """Give memory back, to those who wait first."""
        self.used_bytes -= size_bytes
        while self._waiting and self._fits(self._waiting[0][0]):
            size, event, _ = self._waiting.popleft()
            self.used_bytes += size
            event.succeed()

    def _fits(self, size_bytes: int) -> bool:
        return not self.used_bytes or self.used_bytes + size_bytes <= self._capacity_bytes


class Sender:
    """Sends states one at a time and reports how that went."""

    def __init__(self, attempt: Attempt, destination: Destination) -> None:
        self.stored_unacknowledged = False
        self.busy = False
        self._attempt = attempt
        self._destination = destination
        self._table = attempt.model.destination
        self._entity = attempt.env.entity("sender")
        self._host = attempt.env.entity("destination")
        self._failed_in_a_row = 0

    def send(self, effect: SendState) -> None:
        """Begin to send a state that the core has released."""
        attempt = self._attempt
        self.busy = True
        number = attempt.world.next_send()
        scope, index = scope_text(effect.scope), effect.key.index
        attempt.env.trace.record("send", self._host, scope, index, number)
        attempt.world.properties.on_send(attempt, effect)
        attempt.point(Point.BEFORE_SEND)
        drawn = attempt.world.draws.lognormal_ns(
            ("destination.send", 0, number),
            median_ns=self._table.send_ns,
            spread=self._table.send_spread,
        )
        duration = attempt.faults.send_ns(drawn, attempt.env.now)
        at_end = self._destination.awaits_timer
        if attempt.faults.send_fails(number, at_end=at_end):
            if at_end:
                attempt.env.goals.reach("send_failed_at_end")
            attempt.call_in(duration, KIND_SENT, self._entity, self._failed, effect)
            return
        there = duration // 2
        attempt.call_in(there, KIND_STORED, self._entity, self._stored, effect, duration - there)

    def _stored(self, effect: SendState, back_ns: int) -> None:
        attempt = self._attempt
        kept = attempt.world.platform.take(attempt, effect)
        attempt.world.properties.on_stored(attempt, effect, kept=kept)
        self.stored_unacknowledged = True
        attempt.point(Point.AFTER_SEND)
        attempt.call_in(back_ns, KIND_SENT, self._entity, self._sent, effect)

    def _sent(self, effect: SendState) -> None:
        attempt = self._attempt
        attempt.sign()
        self.busy = self.stored_unacknowledged = False
        self._failed_in_a_row = 0
        scope, index = scope_text(effect.scope), effect.key.index
        attempt.env.trace.record("sent", self._host, scope, index)
        properties = attempt.world.properties
        state = properties.releases.find(attempt, effect)
        stands_for = [] if state is None else properties.releases.skipped(attempt, state)
        self._free([*stands_for, properties.on_sent(attempt, effect)])
        attempt.point(Point.AFTER_ACKNOWLEDGE)
        attempt.env.trace.record("released", self._host, scope, index)
        self._destination.deliver(StateSent(scope=effect.scope, index=effect.key.index))
        attempt.world.properties.on_flushed(attempt)

    def _free(self, states: Iterable[SourceState | None]) -> None:
        """Free memory of states after their first send, whether that returned or failed."""
        for state in states:
            if state is not None and state.reserved:
                state.reserved = False
                self._destination.memory.free(state.size_bytes)

    def _failed(self, effect: SendState) -> None:
        attempt = self._attempt
        self.busy = False
        self._failed_in_a_row += 1
        scope, index = scope_text(effect.scope), effect.key.index
        attempt.env.trace.record("send_failed", self._host, scope, index)
        attempt.env.goals.reach("send_failed")
        properties = attempt.world.properties
        self._free([properties.releases.find(attempt, effect)])
        before = properties.before_failed_send(attempt, effect)
        self._destination.deliver(SendFailed(scope=effect.scope, index=effect.key.index))
        properties.on_send_failed(attempt, effect, before)
        if self._failed_in_a_row >= self._table.send_tries:
            properties.on_sends_given_up(attempt)
            attempt.fail(f"{self._failed_in_a_row} sends in a row failed, last state {index}")
