"""The source of one attempt: feeds read in rounds by concurrent readers, and their states' way out.

On sockets a reader first carries the states that have queued, of whatever feed, through its own
socket. On STDIO states are written in line.  What states say is the source core's business.

Source: airbytehq/airbyte, bulk extract CDK: `FeedReader` and the socket output of states.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator
from typing import TYPE_CHECKING, Any

from ckptsim.models.ordering.source import (
    EmitState,
    FailFeed,
    GenerationEnded,
    PartitionGenerated,
    ReaderFailed,
    ReaderFinished,
    SourceEffect,
)
from ckptsim.scenarios.sync import CheckpointLock, FinalDrain, Point, Side, StateKind
from ckptsim.sim.sync.oracle.truth import Partition
from ckptsim.sim.sync.socket import CompleteMessage, EndMessage, Message, StateMessage
from ckptsim.sim.sync.source.rounds import PartitionIds, Resources, Rounds
from ckptsim.sim.sync.source.states import FeedPlan, StateMaker, View
from ckptsim.sim.sync.vocabulary import KIND_CHECKPOINT

if TYPE_CHECKING:
    from simpy import Event

    from ckptsim.sim.kernel import Process
    from ckptsim.sim.sync.attempt import Attempt
    from ckptsim.sim.sync.intervals import Intervals
    from ckptsim.sim.sync.socket import Socket


class Source:
    """The source of one attempt. `base` is, per feed, what it does not read again."""

    def __init__(self, attempt: Attempt, base: tuple[Intervals, ...]) -> None:
        self.crashed: bool = False
        self.ended: bool = False
        self._attempt = attempt
        self._env = attempt.env
        self._truth = attempt.world.truth
        self._table = attempt.model.source
        self._on_sockets = self._truth.on_sockets
        self.resources: Resources = Resources(
            attempt.env,
            attempt.sockets,
            connections=self._table.connections,
            shared=not self._on_sockets,
        )
        self._plans = [
            FeedPlan(feed, self._truth.descriptor_of(feed), own)
            for feed, own in zip(self._truth.feeds, base, strict=True)
        ]
        self.rounds: Rounds = Rounds(attempt)
        self._per_stream = attempt.model.state_kind is StateKind.STREAM
        self._maker = StateMaker(attempt, self._plans)
        self._ids = PartitionIds(attempt)
        self._pending: deque[Message] = deque()
        self._feeds_left = len(self._plans)
        unlocked = self._table.checkpoint_lock is CheckpointLock.UNLOCKED
        self._unlocked = unlocked and not self._per_stream
        self._checkpoints = 0
        self._states_sent = 0  # at once, by `disorder`
        self._checkpoints_under_way = 0
        self._last_due_ns = 0
        self._ended = self._env.event()
        self._feed_processes: list[Process] = []

    def start(self) -> None:
        """Start one process per feed, and one that closes the sockets after all of them."""
        for plan in self._plans:
            entity = self._env.entity("feed", plan.feed.index)
            process = self._attempt.run_process(Side.SOURCE, self._read_feed(plan), entity)
            self._feed_processes.append(process)
        self._attempt.run_process(Side.SOURCE, self._close(), self._env.entity("source"))

    def crash(self) -> None:
        """Lose everything that was not written. The rest goes to the destination."""
        self.crashed = True
        self._pending.clear()
        for socket in self._attempt.sockets:
            socket.break_off(EndMessage())

    # Feeds ------------------------------------------------------------------------------------

    def _read_feed(self, plan: FeedPlan) -> Generator[Any, Any, None]:
        """Read a feed round by round, then say that it is complete and bring its states out."""
        while True:
            yield from self._flood(plan)
            if plan.exhausted:
                break
            if self._table.generate_ns is not None:
                if (yield from self._run_generated(plan, self._table.generate_ns)):
                    break
            else:
                partitions = plan.next_round(self._table.round_readers)
                self.rounds.begin(plan.descriptor, len(partitions))
                yield from self._run_round(plan, partitions)
        self._feeds_left -= 1
        self._publish_complete(plan)
        if not self._feeds_left and self._checkpoints_under_way == 0:
            self._ended.succeed()
        yield from self._drain_finally()

    def _run_round(self, plan: FeedPlan, partitions: list[Partition]) -> Generator[Any, Any, None]:
        """Start the readers of a round in their order as resources become free. Await them all."""
        readers = []
        for number, partition in enumerate(partitions, start=1):
            socket = self.resources.try_acquire()
            if socket is None:
                socket = yield self.resources.wait()
            readers.append(self._start_reader(plan, partition, number, socket))
        yield from self._end_round(plan, readers)

    def _run_generated(self, plan: FeedPlan, generate_ns: int) -> Generator[Any, Any, bool]:
        """Generate partitions while others are read. Return whether the core wanted no more."""
        plan.round += 1
        current = self.rounds.begin(plan.descriptor, 0, generating=True)
        readers: list[Process] = []
        while not plan.exhausted:
            yield self._env.timeout(generate_ns)
            if current.over:
                break
            partition = plan.next_partition()
            if any(reader.is_alive for reader in readers):
                self._env.goals.reach("partition_generated_while_read")
            yield from self._hand(PartitionGenerated(feed=plan.descriptor))
            readers.append(self._start_reader(plan, partition, len(readers) + 1))
        if early := not plan.exhausted:
            self._attempt.truth.unread[plan.feed.index] = "partitions were still to be generated"
            where = (plan.feed.name, plan.next_partition().low)
            self._env.trace.record("round_ended_early", self._env.active_entity, *where)
        else:
            yield from self._hand(GenerationEnded(feed=plan.descriptor))
        yield from self._end_round(plan, readers)
        return early

    def _hand(self, event: PartitionGenerated | GenerationEnded) -> Generator[Any, Any, None]:
        effects = self.rounds.step(event)
        accepted = self._carry_out(effects) if effects else None
        if accepted is not None:
            yield accepted

    def _start_reader(
        self, plan: FeedPlan, partition: Partition, number: int, socket: Socket | None = None
    ) -> Process:
        """Start the reader of a partition. Without a socket it waits for one itself."""
        feed = plan.feed.index
        partition.ordinal = self._attempt.world.next_reader(feed)
        reader = self._read_partition(plan, partition, number, socket)
        entity = self._env.entity(f"reader.{feed}", number)
        return self._attempt.run_process(Side.SOURCE, reader, entity)

    def _end_round(self, plan: FeedPlan, readers: list[Process]) -> Generator[Any, Any, None]:
        for process in readers:
            if process.is_alive:
                yield process
        yield from self.rounds.wait_over(plan.descriptor)

    def _read_partition(
        self, plan: FeedPlan, partition: Partition, number: int, socket: Socket | None
    ) -> Generator[Any, Any, None]:
        """Carry out queued states, read a partition into the socket, and checkpoint."""
        env, table, feed = self._env, self._table, plan.feed
        if socket is None:
            socket = self.resources.try_acquire() or (yield self.resources.wait())
        partition.socket = socket.index
        partition.started_ns = env.now
        partition.wire_id = self._ids.draw(feed.index, partition.ordinal)
        self._attempt.truth.partitions.append(partition)
        fields = (feed.name, partition.low, partition.high, partition.wire_id, socket.index)
        env.trace.record("reader", env.active_entity, *fields)
        self._attempt.world.properties.readers.on_taken(self._attempt, socket)
        yield from self._drain(socket)
        yield env.timeout(
            self._attempt.world.draws.lognormal_ns(
                ("source.open", feed.index, partition.ordinal),
                median_ns=table.open_ns,
                spread=table.open_spread,
            )
        )
        limit_ns = table.reader_limit_ns
        fails_after = self._attempt.faults.reader_failure(feed.index, partition.ordinal)
        low, packets = partition.low, 0
        while low < partition.high:
            if self.rounds.is_cancelled(plan.descriptor, number):
                break
            if fails_after is not None and packets >= fails_after:
                self._fail_reader(plan, number)
                break
            end = self._truth.piece_end(feed, low, partition.high)
            yield env.timeout((end - low) * table.record_ns)
            accepted = socket.put((self._maker.packet(partition, low, end),))
            if accepted is not None:
                yield accepted
            self._attempt.point(Point.AFTER_PACKET)
            low, packets = end, packets + 1
            late = limit_ns is not None and env.now - partition.started_ns > limit_ns
            if late and plan.cut(partition, low):
                env.goals.reach("reader_cut_off")
        else:
            accepted = self._finish_reader(plan, partition, number)
            if accepted is not None:
                yield accepted
        env.trace.record("reader_ended", env.active_entity, partition.wire_id)
        self._release(socket)

    # Results and states -----------------------------------------------------------------------

    def _finish_reader(self, plan: FeedPlan, partition: Partition, number: int) -> Event | None:
        """Hand a reader's result to the core. Return the wait for states written in line."""
        error = self._attempt.faults.count_error(plan.feed.index, partition.ordinal)
        partition.source_count = max(0, partition.high - partition.low + error)
        effects = self.rounds.step(
            ReaderFinished(
                feed=plan.descriptor,
                reader=number,
                state=plan.new_token(partition),
                count=partition.source_count,
                partition_id=partition.wire_id if self._on_sockets else None,
            )
        )
        return self._carry_out(effects)

    def _fail_reader(self, plan: FeedPlan, number: int) -> None:
        self._env.trace.record("reader_failed", self._env.active_entity, plan.feed.name)
        self._env.goals.reach("reader_failed")
        self._attempt.truth.unread[plan.feed.index] = "its reader had failed"
        self._carry_out(self.rounds.step(ReaderFailed(feed=plan.descriptor, reader=number)))

    def _carry_out(self, effects: list[SourceEffect]) -> Event | None:
        """Emit the states that a result has freed. A failure that is due ends the source."""
        emitted = [effect for effect in effects if isinstance(effect, EmitState)]
        if len(emitted) > 1:
            self._env.goals.reach("states_freed_together")
        accepted: Event | None = None
        if emitted:
            views = [(effect, self._maker.view(effect)) for effect in emitted]
            if self._unlocked:
                self._emit_later(views)
            else:
                accepted = self._emit(views)
        self._attempt.point(Point.AFTER_ABSORB)
        if any(isinstance(effect, FailFeed) for effect in effects):
            self._attempt.crash(Side.SOURCE, "because a reader failed")
        return accepted

    def _emit(self, views: list[tuple[EmitState, View]]) -> Event | None:
        """Queue states for the next reader's socket, or write them in line (STDIO)."""
        accepted: Event | None = None
        for carried_out, (effect, view) in enumerate(views):
            if carried_out:
                self._attempt.point(Point.BETWEEN_EFFECTS)
            if self.crashed:  # a crash does not unwind a timer
                break
            messages: list[Message] = []
            for state in self._maker.make(effect, view):
                messages.append(StateMessage(state, state.size_bytes))
                self._env.trace.record(
                    "state", self._env.active_entity, state.scope, state.index, state.wire_id
                )
            if self._on_sockets and self._table.disorder is None:
                self._pending.extend(messages)
            else:
                accepted = self._state_socket().put(messages)
        return accepted

    def _state_socket(self) -> Socket:
        """Return the socket that carries the next state at once: the first, or one at random."""
        sockets, disorder = self._attempt.sockets, self._table.disorder
        if not disorder:
            return sockets[0]
        self._states_sent += 1
        place = self._attempt.world.draws.share(
            ("source.disorder", self._attempt.truth.number, self._states_sent)
        )
        return sockets[0 if place >= disorder else int(place / disorder * len(sockets))]

    def _emit_later(self, views: list[tuple[EmitState, View]]) -> None:
        """Leave time between what a global checkpoint says and the index that it gets.

        Source: airbytehq/airbyte, `StateManager`: taking a global checkpoint is not one step when
        several feeds do it at once (our reading of the code).
        """
        where = ("source.checkpoint", self._attempt.truth.number, self._checkpoints)
        delay = self._attempt.world.draws.up_to(where, self._table.checkpoint_ns)
        self._checkpoints += 1
        self._checkpoints_under_way += 1
        due = self._env.now + delay
        if due < self._last_due_ns:
            self._env.goals.reach("global_checkpoints_swapped")
        self._last_due_ns = max(self._last_due_ns, due)
        entity = self._env.active_entity
        self._attempt.call_in(delay, KIND_CHECKPOINT, entity, self._emit_now, views)

    def _emit_now(self, views: list[tuple[EmitState, View]]) -> None:
        self._checkpoints_under_way -= 1
        if self.crashed:
            return
        self._emit(views)
        if not self._feeds_left and not self._checkpoints_under_way:
            self._ended.succeed()

    def _flood(self, plan: FeedPlan) -> Generator[Any, Any, None]:
        feed = plan.feed
        count = self._attempt.faults.flood(feed.index, plan.round)
        if not count:
            return
        self.rounds.begin(plan.descriptor, count)
        for number in range(1, count + 1):
            partition = Partition(feed, low=0, high=0)
            partition.ordinal = self._attempt.world.next_reader(feed.index)
            partition.wire_id = self._ids.draw(feed.index, partition.ordinal)
            accepted = self._finish_reader(plan, partition, number)
            if accepted is not None:
                yield accepted

    # The way out ------------------------------------------------------------------------------

    def _drain(self, socket: Socket) -> Generator[Any, Any, None]:
        """Send everything that has queued through a socket, before anything else of its reader."""
        self._attempt.point(Point.BEFORE_DRAIN)
        while self._pending:
            messages, self._pending = list(self._pending), deque()
            self._env.trace.record(
                "drain", self._env.active_entity, len(messages), socket.entity.name
            )
            accepted = socket.put(messages)
            if accepted is not None:
                yield accepted

    def _publish_complete(self, plan: FeedPlan) -> None:
        """Say COMPLETE: of a feed's stream at its end, of a change log's streams after all."""
        if self._per_stream:
            assert plan.feed.stream is not None
            self._complete([plan.feed.stream])
        elif not self._feeds_left:
            self._complete(list(range(len(self._truth.descriptors))))

    def _complete(self, streams: list[int]) -> None:
        messages: list[Message] = [CompleteMessage(stream) for stream in streams]
        if not self._on_sockets:
            self._attempt.sockets[0].put(messages)
        elif self._table.complete_on_every_socket:
            for socket in self._attempt.sockets:
                socket.put(list(messages))
        else:
            # Before the last states, which have queued already.
            self._pending.extendleft(reversed(messages))
        self._attempt.point(Point.AFTER_COMPLETE)

    def _drain_finally(self) -> Generator[Any, Any, None]:
        """Bring out everything that has queued at the end of a feed, if there is a socket for it.

        After the last feed this waits for the checkpoints that are still under way, on STDIO as
        well, where their states are written in line.
        """
        if not self._feeds_left and not self._ended.triggered:
            yield self._ended
        if not self._on_sockets or not self._pending:
            return
        socket = self.resources.try_acquire()
        if socket is None and self._table.final_drain is FinalDrain.SKIP:
            self._env.goals.reach("final_drain_skipped")
            return
        if socket is None:
            socket = yield self.resources.wait()
        self._attempt.world.properties.readers.on_taken(self._attempt, socket)
        yield from self._drain(socket)
        self._release(socket)

    def _release(self, socket: Socket) -> None:
        self._attempt.world.properties.readers.on_released(socket)
        self.resources.release(socket)

    def _close(self) -> Generator[Any, Any, None]:
        for process in self._feed_processes:
            if process.is_alive:
                yield process
        for socket in self._attempt.sockets:
            socket.put((EndMessage(),))
        self.ended = True
