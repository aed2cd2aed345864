"""One attempt of a sync: its source, sockets and destination, and how it ends.

Whatever runs in an attempt runs under its guard: a crash or failure unwinds the running process or
callback at that very point, stops all others, and leaves timers of the attempt without effect.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from typing import TYPE_CHECKING, Any, NoReturn

from ckptsim.models.ordering import scope_text
from ckptsim.scenarios.dialect import duration_text
from ckptsim.scenarios.sync import Medium, Point, Side, SocketStall
from ckptsim.sim.kernel import Timeout, Wait
from ckptsim.sim.sync.destination import Destination
from ckptsim.sim.sync.socket import RecordPacket, Socket, StateMessage
from ckptsim.sim.sync.source import Source
from ckptsim.sim.sync.vocabulary import KIND_FAULT, KIND_WATCH

if TYPE_CHECKING:
    from ckptsim.sim.kernel import Entity, Process, Timer
    from ckptsim.sim.sync.intervals import Intervals
    from ckptsim.sim.sync.oracle.truth import SourceState
    from ckptsim.sim.sync.world import SyncWorld


class AttemptEnded(Exception):  # noqa: N818 - named after what happened
    """Unwinds what runs when its attempt ends."""


class SourceEnded(Exception):  # noqa: N818 - named after what happened
    """Unwinds a process of the source when the source crashes."""


class Attempt:
    """One attempt. `base` is, per feed, what its source is reported not to read again."""

    def __init__(self, world: SyncWorld, base: tuple[Intervals, ...]) -> None:
        self.world = world
        self.env = world.env
        self.model = world.model
        self.faults = world.faults
        self.truth = world.truth.begin_attempt(base, world.env.now)
        self.over = False
        self._strikes_before = world.faults.strikes
        self._processes: dict[Side, list[Process]] = {side: [] for side in Side}
        self._last_sign_ns = world.env.now
        self.entity: Entity = self.env.entity("attempt")
        on_stdio = self.model.medium is Medium.STDIO
        count = 1 if on_stdio else self.model.sockets.count
        self.sockets = [Socket(self.env, self.model.sockets, index) for index in range(count)]
        self.destination: Destination = self.make_destination()
        self.source = Source(self, base)

    def make_destination(self) -> Destination:
        """Make the destination of this attempt."""
        return Destination(self)

    def start(self) -> None:
        """Begin to run."""
        self.guard(self.begin, ())

    def begin(self) -> None:
        """Start source and destination. Runs within the attempt."""
        self.world.properties.on_attempt_started(self)
        for stall in self.faults.of(SocketStall):
            self._plan_stall(stall)
        self.destination.start()
        self.source.start()
        limit_ns = self.model.destination.stall_limit_ns
        self.call_in(limit_ns, KIND_WATCH, self.entity, self._watch)

    def run_process(
        self, side: Side, generator: Generator[Any, Any, None], entity: Entity
    ) -> Process:
        """Run a process that ends with its side or with the attempt."""
        process = self.env.process(self._guard_process(generator), entity=entity)
        self._processes[side].append(process)
        return process

    def call_in(
        self,
        delay_ns: int,
        kind: int,
        entity: Entity,
        function: Callable[..., object],
        *arguments: object,
    ) -> Timer:
        """Call a function later, unless the attempt is over by then."""
        return self.env.call_in(delay_ns, kind, entity, self.guard, function, arguments)

    @property
    def undisturbed(self) -> bool:
        """Whether no fault has struck in this attempt so far."""
        return self.faults.strikes == self._strikes_before

    @property
    def source_works(self) -> bool:
        """Whether a process of the source needs nothing but time."""
        own = self._processes[Side.SOURCE]
        return any(process.is_alive and isinstance(process.target, Timeout) for process in own)

    def sign(self) -> None:
        """Note a sign of life: something was read, stored or sent."""
        self._last_sign_ns = self.env.now

    def outlasts_watch(self, duration_ns: int) -> bool:
        """Return whether what begins now ends after the watch strikes, if nothing else moves."""
        limit_ns = self.model.destination.stall_limit_ns
        return self.env.now + duration_ns >= self._last_sign_ns + limit_ns

    @property
    def stalled_since_sign(self) -> bool:
        """Whether a socket has stalled at some time since the last sign of life."""
        return any(socket.stalled_until_ns > self._last_sign_ns for socket in self.sockets)

    def point(self, point: Point) -> None:
        """Pass a named point of the program. A planned crash unwinds from here."""
        side = self.faults.passes(point)
        if side is not None:
            self.crash(side, f"at {point}")

    def crash(self, side: Side, where: str = "") -> None:
        """Crash a side that still runs. Unwinds if the caller belongs to it."""
        if side is Side.SOURCE and (self.source.crashed or self.source.ended):
            return
        self.faults.note_strike()
        self.env.trace.record("crash", self.entity, str(side), where)
        self.env.goals.reach(f"{side}_crashed")
        if side is Side.DESTINATION:
            if self.destination.sender.stored_unacknowledged:
                self.env.goals.reach("crash_between_send_and_acknowledgement")
            raise AttemptEnded(f"destination crashed {where}".strip())
        self.source.crash()
        active = self.env.active_process
        own = self._processes[Side.SOURCE]
        self._stop(process for process in own if process is not active)
        if any(process is active for process in own):
            raise SourceEnded

    def fail(self, reason: str) -> NoReturn:
        """Fail the attempt for a reason. unwinds."""
        raise AttemptEnded(reason)

    def destination_succeeded(self) -> NoReturn:
        """End the attempt: well, unless the source has crashed. Unwinds."""
        raise AttemptEnded("the source crashed" if self.source.crashed else "")

    def end(self, reason: str | None) -> None:
        """End the attempt, well without a reason. Stop everything that runs in it."""
        if self.over:
            return
        self.over = True
        self.truth.ended_ns = self.env.now
        self.truth.reason = reason
        active = self.env.active_process
        for processes in self._processes.values():
            self._stop(process for process in processes if process is not active)
        for socket in self.sockets:
            socket.drop_all()
            socket.check()
        self.env.trace.record("attempt_ended", self.entity, self.truth.number, reason)
        self.world.attempt_ended(self, reason)

    def _stop(self, processes: Iterable[Process]) -> None:
        for process in processes:
            process.stop()

    def _guard_process(self, generator: Generator[Any, Any, None]) -> Generator[Any, Any, None]:
        try:
            yield from generator
        except SourceEnded:
            return
        except AttemptEnded as ended:
            self.end(str(ended) or None)

    def guard(self, function: Callable[..., object], arguments: tuple[object, ...]) -> None:
        """Call a function within the attempt: what unwinds ends it. Nothing once it is over."""
        if self.over:
            return
        try:
            function(*arguments)
        except AttemptEnded as ended:
            self.end(str(ended) or None)

    def _plan_stall(self, stall: SocketStall) -> None:
        end = stall.at_ns + stall.duration_ns
        if stall.socket >= len(self.sockets) or end <= self.env.now:
            return
        delay = max(0, stall.at_ns - self.env.now)
        socket = self.sockets[stall.socket]
        self.call_in(delay, KIND_FAULT, socket.entity, self._stall, socket, end)

    def _stall(self, socket: Socket, until_ns: int) -> None:
        self.faults.note_strike()
        socket.stall(until_ns)

    def _watch(self) -> None:
        limit_ns = self.model.destination.stall_limit_ns
        self.world.note_signs()
        silence = self.env.now - self._last_sign_ns
        if silence < limit_ns:
            self.call_in(limit_ns - silence, KIND_WATCH, self.entity, self._watch)
            return
        sentence = self.world.explain()
        self.world.properties.on_silence(self, sentence)
        self.fail(f"nothing moved for {duration_text(silence)}: {sentence}")


_CORE = "the core"


def waits(attempt: Attempt) -> Iterator[Wait]:
    """Return the waits of an attempt."""
    destination = attempt.destination
    for who in destination.memory.waiting:
        yield Wait(who, "memory for a state", _CORE)
    for blocked in destination.core.blocked():
        scope = scope_text(blocked.scope)
        states = attempt.truth.states.get(scope, [])
        what, whom = str(blocked), None
        if blocked.next_index <= len(states):
            state = states[blocked.next_index - 1]
            what, whom = _missing(attempt, state)
        yield Wait(_CORE, what, whom)
    for socket in attempt.sockets:
        name = socket.entity.name
        if socket.writers_count:
            yield Wait(f"the source at {name}", "room in the pipe", name)
        if next(socket.unread, None) is not None:
            yield Wait(name, "what is on its line or in its pipe to be taken")
        elif not (attempt.source.ended or attempt.source.crashed):
            yield Wait(name, "something to carry", "a reader of the source")
    if attempt.source.resources.waiting_count:
        yield Wait("a feed of the source", "a free socket", "another reader")
    for feed in attempt.source.rounds.awaited:
        yield Wait(f"feed {feed} of the source", "the end of its round", "the core of the source")
    if not destination.uploader.idle:
        yield Wait("the destination", "an upload", "the storage")


def _missing(attempt: Attempt, state: SourceState) -> tuple[str, str | None]:
    name = f"state {state.scope}/{state.index}"
    if state.accepted_ns is None:
        return name, _holder_of_state(attempt, state)
    for partition in state.partitions:
        size = partition.high - partition.low
        if partition.read < size:
            what = f"{size - partition.read} records of {name} to arrive"
            return what, _holder_of_records(attempt, state)
        if partition.durable < size:
            return f"{size - partition.durable} records of {name} to become durable", None
    return f"{name} to be sent", None


def _holder_of_state(attempt: Attempt, state: SourceState) -> str | None:
    for socket in attempt.sockets:
        for message in socket.unread:
            if isinstance(message, StateMessage) and message.state is state:
                return socket.entity.name
    return "the source"


def _holder_of_records(attempt: Attempt, state: SourceState) -> str | None:
    for socket in attempt.sockets:
        for message in socket.unread:
            if isinstance(message, RecordPacket) and message.partition in state.partitions:
                return socket.entity.name
    return None
