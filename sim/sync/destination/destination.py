"""The destination of one attempt: reader threads, pipelines, uploads, and the ordering core.

It interprets the core's effects and nothing else decides the sent data.  One reader process per
socket takes messages in. Batches become durable beside it. States are sent one at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import TYPE_CHECKING, Any, assert_never

from ckptsim.models import ordering
from ckptsim.models.core import ProtocolError
from ckptsim.scenarios.sync import Levels, MemoryPolicy, Point, RejectsAt, Side
from ckptsim.sim.sync.destination.uploads import (
    Batch,
    Intake,
    Pipeline,
    Sender,
    StateMemory,
    Storage,
    Uploader,
)
from ckptsim.sim.sync.socket import CompleteMessage, RecordPacket, StateMessage
from ckptsim.sim.sync.vocabulary import KIND_COMPLETE, KIND_HEARTBEAT, KIND_POLL

if TYPE_CHECKING:
    from ckptsim.sim.kernel import Timer
    from ckptsim.sim.sync.attempt import Attempt
    from ckptsim.sim.sync.oracle.truth import SourceState
    from ckptsim.sim.sync.socket import Socket

    MakePaths = Callable[["Destination"], tuple[Storage, Sequence[Intake]]]


class Destination:
    """The destination of one attempt.

    make_paths: makes what records go through, per socket, and where they become durable.
    completing: batches that are persisted and not reported as complete yet.
    """

    def __init__(self, attempt: Attempt, make_paths: MakePaths | None = None) -> None:
        self.core: ordering.OrderingDoor = attempt.world.make_core()
        capacity = attempt.model.destination.state_memory_bytes
        self.memory: StateMemory = StateMemory(attempt.env, capacity)
        self.sender: Sender = Sender(attempt, self)
        self.open_sockets: int = len(attempt.sockets)
        self._attempt = attempt
        self._env = attempt.env
        self._truth = attempt.world.truth
        self._properties = attempt.world.properties
        self._table = attempt.model.destination
        self._entity = attempt.env.entity("destination")
        self.uploader: Storage
        self._pipelines: Sequence[Intake]
        self.uploader, self._pipelines = (make_paths or self._uploads)(self)
        self.completing: int = 0
        self._finishing = False
        self._incomplete = False  # the input ended before every stream was COMPLETE
        self._finish_timer: Timer | None = None
        self._descriptors = self._truth.descriptors
        self._channel = 0
        self._packet: RecordPacket | None = None  # the one that the core is just told of

    def _uploads(self, _destination: Destination) -> tuple[Storage, Sequence[Intake]]:
        attempt = self._attempt
        uploader = Uploader(attempt, self._on_durable)
        return uploader, [Pipeline(attempt, uploader, s.index) for s in attempt.sockets]

    def start(self) -> None:
        """Start the reader processes and the heartbeat."""
        for socket in self._attempt.sockets:
            self._attempt.run_process(Side.DESTINATION, self._read(socket), socket.entity)
        if self._table.heartbeat_ns is not None:
            self._attempt.call_in(
                self._table.heartbeat_ns, KIND_HEARTBEAT, self._entity, self._heartbeat
            )

    def deliver(self, event: ordering.Event) -> None:
        """Give the core an event and carry out its effects in their order."""
        try:
            effects = self.core.step(event)
        except ProtocolError as error:
            self._env.trace.record("refused", self._entity, error.kind)
            self._env.goals.reach("input_refused")
            self._attempt.fail(f"the core refused an input: {error.kind}: {error.state}")
        if isinstance(event, ordering.RecordsRead | ordering.RecordsDurable | ordering.StateRead):
            self._properties.replays.on_input(event)
        for carried_out, effect in enumerate(effects):
            if carried_out:
                self._attempt.point(Point.BETWEEN_EFFECTS)
            self._carry_out(effect)

    def request_flush(self) -> None:
        """Ask the core to release what it can."""
        self._properties.on_flush_requested(self._attempt)
        self.deliver(ordering.FlushRequested())
        self._properties.on_flushed(self._attempt)

    # Input ------------------------------------------------------------------------------------

    def _read(self, socket: Socket) -> Generator[Any, Any, None]:
        env, record_ns = self._env, self._table.record_ns
        while True:
            message = socket.take()
            if message is None:
                yield socket.arrival()
            elif isinstance(message, RecordPacket):
                yield env.timeout((message.high - message.low) * record_ns)
                self._on_packet(socket, message)
                room = self._pipelines[socket.index].room()
                if room is not None:
                    yield room
            elif isinstance(message, StateMessage):
                state = message.state
                if not self.memory.reserve(state.size_bytes):
                    env.goals.reach("state_memory_exhausted")
                    if self._table.memory_policy is MemoryPolicy.BLOCK:
                        yield self.memory.wait(state.size_bytes, socket.entity.name)
                        state.reserved = True
                else:
                    state.reserved = True
                    self._properties.ends.check_turn(self._attempt, state)
                self._on_state(socket, state)
            elif isinstance(message, CompleteMessage):
                descriptor = self._descriptors[message.stream]
                env.trace.record("complete_read", socket.entity, message.stream)
                self._attempt.truth.completed[str(descriptor)] = None
                self.deliver(ordering.CompleteRead(stream=descriptor, channel=socket.index))
            else:
                self._on_end(socket)
                return

    def _on_packet(self, socket: Socket, packet: RecordPacket) -> None:
        attempt, partition = self._attempt, packet.partition
        attempt.sign()
        self._env.trace.record(
            "read", socket.entity, packet.stream, packet.low, packet.high, partition.wire_id
        )
        partition.read += packet.high - packet.low
        partition.last_read_ns = self._env.now
        self._packet = packet
        self._channel = socket.index
        self.deliver(
            ordering.RecordsRead(
                stream=self._descriptors[packet.stream],
                size_bytes=packet.size_bytes,
                count=packet.high - packet.low,
                id=partition.wire_id if self._truth.on_sockets else None,
                channel=socket.index,
            )
        )
        attempt.point(Point.AFTER_READ)
        self.uploader.packet_read()

    def _on_state(self, socket: Socket, state: SourceState) -> None:
        attempt = self._attempt
        attempt.sign()
        self._env.trace.record("state_read", self._entity, state.scope, state.index, socket.index)
        if state.accepted_ns is None:
            state.socket = socket.index
            state.accepted_ns = self._env.now
            self._properties.releases.on_state_read(attempt, state)
        self.deliver(self._event(state))
        attempt.point(Point.AFTER_STATE)

    def _event(self, state: SourceState) -> ordering.StateRead:
        keyed = self._truth.on_sockets or self._attempt.model.source.keys_on_stdio
        return ordering.StateRead(
            kind=state.kind,
            payload=state.payload,
            stream=None if state.stream is None else self._descriptors[state.stream],
            index=state.wire_index if keyed else None,
            id=state.wire_id if keyed else None,
            source_count=state.source_count,
            inner=state.inner,
            listed=None if state.stream is not None else self._descriptors,
        )

    def _on_end(self, socket: Socket) -> None:
        self._env.trace.record("socket_ended", socket.entity)
        self.open_sockets -= 1
        self.deliver(ordering.ChannelClosed(channel=socket.index))
        self.finish_when_idle()
        self.uploader.socket_ended(last=not self.open_sockets, complete=not self._incomplete)

    # Effects ----------------------------------------------------------------------------------

    def _carry_out(self, effect: ordering.Effect) -> None:
        match effect:
            case ordering.PassRecords():
                packet = self._packet
                assert packet is not None
                self._properties.records.on_pass(self._attempt, packet, effect)
                self._pipelines[self._channel].add(packet, effect.id)
            case ordering.SendState():
                self.sender.send(effect)
            case ordering.EndChannel():
                self._pipelines[effect.channel].close_all()
            case ordering.EndStream():
                self._properties.ends.on_stream_ended(self._attempt, effect)
            case ordering.CompleteSync():
                self._properties.on_complete(self._attempt)
                self._attempt.destination_succeeded()
            case ordering.FailSync():
                self._properties.on_fail(self._attempt, effect)
                self._attempt.fail(str(effect))
            case ordering.SetFinishTimer():
                self._finish_timer = self._attempt.call_in(
                    effect.wait_ns, KIND_POLL, self._entity, self._wait_over
                )
            case ordering.CancelFinishTimer():
                if self._finish_timer is not None:
                    self._finish_timer.cancel()
                    self._finish_timer = None
            case ordering.ReportIncomplete():
                self._incomplete = True
                self._env.trace.record("effect", self._entity, type(effect).__name__)
            case ordering.OpenStream() | ordering.CloseInput():
                self._env.trace.record("effect", self._entity, type(effect).__name__)
            case _:
                assert_never(effect)

    # Durability -------------------------------------------------------------------------------

    def _on_durable(self, batch: Batch) -> None:
        attempt = self._attempt
        attempt.sign()
        self._account(batch)
        attempt.point(Point.AFTER_UPLOAD)
        levels = self._table.levels
        in_turn = levels is Levels.DISJOINT and batch.number % 2
        first_persisted = in_turn or levels in (Levels.PERSISTED, Levels.BOTH)
        early = ordering.Level.PERSISTED if first_persisted else ordering.Level.COMPLETE
        if levels is Levels.BOTH:
            self.completing += 1
            self._attempt.call_in(
                self._table.complete_ns, KIND_COMPLETE, self._entity, self._on_complete, batch
            )
        self._report(batch, early)
        attempt.point(Point.AFTER_PERSIST)
        self.request_flush()
        self.finish_when_idle()

    def _account(self, batch: Batch) -> None:
        """Enter a batch into the ground truth: from now on a crash does not lose it."""
        durable, stored = self._attempt.truth.durable, self._truth.stored
        now = self._env.now
        for packet in batch.packets:
            feed = packet.partition.feed.index
            durable[feed].add(packet.low, packet.high)
            stored[feed].add(packet.low, packet.high)
            packet.partition.durable += packet.high - packet.low
            packet.partition.last_durable_ns = now

    def _on_complete(self, batch: Batch) -> None:
        self.completing -= 1
        self._attempt.sign()
        self._report(batch, ordering.Level.COMPLETE)
        self.request_flush()
        self.finish_when_idle()

    def _report(self, batch: Batch, level: ordering.Level) -> None:
        """Report a batch's counts to the core, per id in the order of their first packets."""
        sums: dict[str, list[int]] = {}
        for packet, wire_id in zip(batch.packets, batch.ids, strict=True):
            entry = sums.setdefault(wire_id, [0, 0, 0])
            count = packet.count
            rejected = self._rejected(packet, level)
            self._properties.records.on_report(self._attempt, packet, rejected, level)
            size = packet.size_bytes * (count - rejected) // count
            entry[0] += count - rejected
            entry[1] += size
            entry[2] += rejected
        descriptor = self._descriptors[batch.stream]
        for wire_id, (count, size, rejected) in sums.items():
            both = count + rejected
            self._env.trace.record("reported", self._entity, batch.stream, wire_id, both)
            self.deliver(
                ordering.RecordsDurable(
                    stream=descriptor,
                    id=wire_id,
                    count=count,
                    size_bytes=size,
                    rejected=rejected,
                    level=level,
                )
            )

    def _rejected(self, packet: RecordPacket, level: ordering.Level) -> int:
        late = self._table.rejects_at is RejectsAt.COMPLETE
        if late and level is ordering.Level.PERSISTED and self._table.levels is Levels.BOTH:
            return 0
        return self._truth.rejected(packet.stream, packet.low, packet.high)

    # Time and end -----------------------------------------------------------------------------

    def _heartbeat(self) -> None:
        self.request_flush()
        assert self._table.heartbeat_ns is not None
        self._attempt.call_in(
            self._table.heartbeat_ns, KIND_HEARTBEAT, self._entity, self._heartbeat
        )

    def finish_when_idle(self) -> None:
        """Ask for the verdict once all input is read and everything read is durable."""
        idle = self.uploader.idle and not self.completing
        if self._finishing or self.open_sockets or not idle:
            return
        self._finishing = True
        self._attempt.point(Point.BEFORE_FINISH)
        self._attempt.call_in(self._table.end_poll_ns, KIND_POLL, self._entity, self._poll)
        # Nothing that could complete a stream can come any more, so there is no use in waiting.
        wait_ns = 0 if self._incomplete else self._table.end_wait_ns
        self.deliver(ordering.FinishRequested(wait_ns=wait_ns))

    def _wait_over(self) -> None:
        self._finish_timer = None
        self.deliver(ordering.FinishTimerFired())

    @property
    def awaits_timer(self) -> bool:
        """Whether the timer of the end is set."""
        return self._finish_timer is not None

    def _poll(self) -> None:
        self.request_flush()
        self._attempt.call_in(self._table.end_poll_ns, KIND_POLL, self._entity, self._poll)
