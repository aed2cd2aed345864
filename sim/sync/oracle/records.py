"""The properties of records on their way: owners, counts, and the sent data again."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ckptsim.models.ordering import Level, PassRecords
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
        """Enter the report of a durable packet. Check that no more is durable than was read.

        Everything that is rejected is distinguished at both levels, or at the last one alone.
        """
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
