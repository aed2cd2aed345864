"""The properties of records on their way: owners, counts, and the sent data again.

When an attempt has come to rest, fresh cores get its events again, in other orders that the wire
allows, with one flush at the end.  They must release the same states with the same number of
records.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, TypeAlias

from ckptsim.models.core import ProtocolError
from ckptsim.models.ordering import (
    FlushRequested,
    Level,
    PassRecords,
    RecordsDurable,
    RecordsRead,
    SendState,
    StateRead,
    drive,
    scope_text,
)
from ckptsim.scenarios.dialect import listed
from ckptsim.scenarios.sync import Levels, RejectsAt

if TYPE_CHECKING:
    from ckptsim.sim.sync.attempt import Attempt
    from ckptsim.sim.sync.oracle.truth import SourceState
    from ckptsim.sim.sync.socket import RecordPacket
    from ckptsim.sim.sync.world import SyncWorld


class RecordChecks:
    """Enters records into the accounts of one attempt at a time, and checks them."""

    def __init__(
        self, world: SyncWorld, violate: Callable[[str, str, SourceState | None], None]
    ) -> None:
        self._truth = world.truth
        self._goals = world.env.goals
        self._violate = violate
        self._interval_of: dict[tuple[int, str], int] = {}
        self._id_of: dict[tuple[int, int], str] = {}

    def begin(self) -> None:
        """Begin an attempt."""
        self._interval_of = {}
        self._id_of = {}

    def on_produced(self, attempt: Attempt, packet: RecordPacket) -> None:
        """Check that nothing is sent again that the attempt was told not to read."""
        feed = packet.partition.feed
        truth = attempt.truth
        self._truth.produced_count += packet.count
        if truth.number > 1:
            new = sum(
                high - low
                for low, high in self._truth.stored[feed.index].missing(packet.low, packet.high)
            )
            if new < packet.count:
                truth.redelivered += packet.count - new
                self._goals.reach("records_redelivered")
        for low, high in truth.base[feed.index]:
            if low < packet.high and packet.low < high:
                self._violate(
                    "resume_is_monotone",
                    f"records {packet.low}-{packet.high - 1} of {feed.name} are sent again, "
                    "although a returned state claims some of them",
                    None,
                )

    def on_pass(self, attempt: Attempt, packet: RecordPacket, effect: PassRecords) -> None:
        """Enter what the core counts, and check that it counts it for its own id."""
        truth, stream = attempt.truth, packet.stream
        if self._truth.on_sockets:
            key: str | int = packet.partition.wire_id
            right = effect.id == key
        else:
            key = packet.interval = truth.intervals.get(stream, 0)
            right = self._interval_of.setdefault((stream, effect.id), key) == key
            right = right and self._id_of.setdefault((stream, key), effect.id) == effect.id
        own = effect.stream == self._truth.descriptors[stream] and effect.count == packet.count
        if not right or not own:
            self._violate(
                "records_have_one_owner",
                f"records {packet.low}-{packet.high - 1} of {packet.partition.feed.name} were "
                f"counted for id {effect.id} of {effect.stream}, which is not theirs alone",
                None,
            )
        truth.account(stream, key).read += packet.count
        truth.read[stream] = truth.read.get(stream, 0) + packet.count

    def on_report(
        self, attempt: Attempt, packet: RecordPacket, rejected: int, level: Level
    ) -> None:
        """Enter the report of a durable packet. Check that no more is durable than was read."""
        truth, stream = attempt.truth, packet.stream
        table = attempt.model.destination
        late = table.levels is Levels.BOTH and table.rejects_at is RejectsAt.COMPLETE
        true = self._truth.rejected(stream, packet.low, packet.high)
        if rejected != (0 if late and level is Level.PERSISTED else true):
            says = f"{rejected} of {packet.count} records of {packet.partition.feed.name} are told "
            says += f"apart as rejected at level {level.name}, {true} of them are rejected"
            self._violate("counts_are_true", says, None)
        if (
            table.levels in (Levels.PERSISTED, Levels.COMPLETE)
            and table.levels != level.name.lower()
        ):
            says = f"records of {packet.partition.feed.name} are reported at level {level.name}, "
            says += f"and the destination reports at {table.levels} alone"
            self._violate("counts_are_true", says, None)
        key = packet.partition.wire_id if self._truth.on_sockets else packet.interval
        account = truth.account(stream, key)
        committed = packet.count - rejected
        size_bytes = packet.size_bytes * committed // packet.count
        account.report(level, committed, rejected, size_bytes)
        account.reported_step = truth.next_step()
        if rejected:
            self._goals.reach("rejected_records")
        if account.reported > account.read:
            self._violate(
                "durable_never_exceeds_read",
                f"{account.reported} records of an id of {self._truth.scopes[stream]} were "
                f"reported durable, {account.read} were read",
                None,
            )


Input: TypeAlias = RecordsRead | RecordsDurable | StateRead
# Scope -> (index, settled records) in the order of release.
Released: TypeAlias = dict[str, list[tuple[int, int]]]


class ReplayChecks:
    """Keeps what a core was told and shows it to others."""

    def __init__(
        self, world: SyncWorld, violate: Callable[[str, str, SourceState | None], None]
    ) -> None:
        self._world = world
        self._violate = violate
        self._inputs: list[Input] = []

    def begin(self) -> None:
        """Begin an attempt."""
        self._inputs = []

    def on_input(self, event: Input) -> None:
        """Keep what the core is reported."""
        self._inputs.append(event)

    def on_rest(self, attempt: Attempt) -> None:
        """Compare the released states with other interleavings."""
        if self._is_misled(attempt):
            return
        happened = _happened(attempt)
        for says, inputs in self._interleavings():
            released = self._replay(inputs)
            if released != happened:
                self._violate(
                    "release_is_deterministic",
                    f"with {says} the core releases {_shown(released)}, here it released "
                    f"{_shown(happened)}",
                    None,
                )

    def _is_misled(self, attempt: Attempt) -> bool:
        """Return whether a fault of the source makes more than one outcome right.

        One that counts too few has states released before all their records have come.  Two readers
        of a feed with one id make a state wait for the records of both, or be refused.
        """
        partitions = attempt.truth.partitions
        if any(one.source_count < one.high - one.low for one in partitions):
            return True
        ids = [(one.feed.index, one.wire_id) for one in partitions]
        return self._world.truth.on_sockets and len(dict.fromkeys(ids)) < len(ids)

    def _interleavings(self) -> list[tuple[str, list[Input]]]:
        """Return other orders of the same inputs. Records are read before they are durable."""
        durable = [event for event in self._inputs if isinstance(event, RecordsDurable)]
        states = [event for event in self._inputs if isinstance(event, StateRead)]
        records = [event for event in self._inputs if isinstance(event, RecordsRead)]
        if not self._world.truth.on_sockets:
            kept = [event for event in self._inputs if not isinstance(event, RecordsDurable)]
            return [("durable records reported last", kept + durable[::-1])]
        late: list[Input] = [*reversed(records), *reversed(durable)]
        return [
            ("states first, the last one foremost", [*reversed(states), *late]),
            ("states after all records", [*records, *durable, *states]),
        ]

    def _replay(self, inputs: Iterable[Input]) -> Released:
        released: Released = {}

        def send(effect: SendState) -> bool:
            settled = effect.statistics.destination.accounted
            released.setdefault(scope_text(effect.scope), []).append((effect.key.index, settled))
            return True

        core = self._world.make_core(alone=True)  # compared is only what it releases
        try:
            for event in inputs:
                drive(core, event, send)
            drive(core, FlushRequested(), send)
        except ProtocolError as error:
            self._violate(
                "release_is_deterministic",
                f"in another order the core refuses what it took here: {error}",
                None,
            )
        return released


def _happened(attempt: Attempt) -> Released:
    released: Released = {}
    for scope, states in attempt.truth.states.items():
        own = [(s.index, sum(s.settled)) for s in states if s.acknowledged_ns is not None]
        if own:
            released[scope] = own
    return released


def _shown(released: Released) -> str:
    parts = [
        f"{scope} {listed(index for index, _ in own)}" for scope, own in sorted(released.items())
    ]
    return "; ".join(parts) or "nothing"
