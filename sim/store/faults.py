"""The fault plan of a run: what strikes when, also in the middle of a step of the medium."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, assert_never, cast

from ckptsim.models.store import Area, Medium, Rows, Slot, Step, TopicPartition
from ckptsim.scenarios.store import (
    CommitOutage,
    Compact,
    CrashAt,
    CrashBetween,
    CrashBetweenEffects,
    CrashInReset,
    CrashRate,
    Damage,
    Deploy,
    DictionaryOutage,
    FailRecovery,
    FailWrite,
    ForeignCommit,
    Rebootstrap,
    Reopen,
    StopAt,
    StoreFault,
    SwitchSource,
    Takeover,
    Tamper,
    TornWrite,
    TransferFromPeer,
    TruncateLog,
)
from ckptsim.sim.mishaps import commit_by_another_party, damage, transfer_version
from ckptsim.sim.store.vocabulary import KIND_FAULT

if TYPE_CHECKING:
    from ckptsim.models.store import Step
    from ckptsim.sim.store.process import Steps, Threads
    from ckptsim.sim.store.world import StoreWorld


Strike = tuple[int, Callable[..., object], tuple[object, ...]]


class FaultPlan:
    """Lets the faults of a scenario strike."""

    def __init__(self, world: StoreWorld) -> None:
        self._world = world
        self._env = world.env
        self._plan = cast("tuple[StoreFault, ...]", world.spec.scenario.faults)
        self._entity = world.env.entity("faults")
        self._crash_syncs = {f.sync for f in self._plan if isinstance(f, CrashBetween)}
        self._crash_effects = {f.effect for f in self._plan if isinstance(f, CrashBetweenEffects)}
        self._torn = {f.sync: f.kept_bytes for f in self._plan if isinstance(f, TornWrite)}
        self._crash_resets = {f.reset for f in self._plan if isinstance(f, CrashInReset)}
        self._failing = [f for f in self._plan if isinstance(f, FailWrite)]
        self._failing_starts = {f.start for f in self._plan if isinstance(f, FailRecovery)}
        self._failed: dict[TopicPartition, None] = {}
        self._rates = [f for f in self._plan if isinstance(f, CrashRate)]
        self._crashes = world.env.stream("crash")
        self._to_come = 0
        self._resets = 0
        self._effects = 0
        self._steps_in_reset: int | None = None
        self._out_of: dict[int | None, bool] = {}  # partition, None: all -> whether commits fail

    @property
    def over(self) -> bool:
        """Return whether no timed fault is still to come."""
        return self._to_come == 0 and self._world.owners.over

    def schedule(self) -> None:
        """Enter every timed fault into the calendar."""
        for index, fault in enumerate(self._plan):
            entity = self._env.entity("fault", index)
            for at_ns, function, arguments in self._strikes(fault):
                self._to_come += 1
                self._env.call_at(at_ns, KIND_FAULT, entity, self._strike, function, arguments)

    def _strike(self, function: Callable[..., object], arguments: tuple[object, ...]) -> None:
        self._to_come -= 1
        function(*arguments)
        self._world.caught_up()

    def process_started(self, threads: Threads) -> None:
        """Draw when the process that has just started dies of itself, if it does."""
        for fault in self._rates:
            wait_ns = max(1, self._crashes.exponential_ns(fault.mean_ns))
            if self._env.now + wait_ns <= fault.until_ns:
                threads.start(self._die_in(wait_ns), self._entity)

    def commits_fail(self, key: TopicPartition) -> bool:
        """Return whether the remote side commits nothing of a partition now."""
        return self._out_of.get(None, False) or self._out_of.get(key.partition, False)

    def recovery_fails(self, start: int) -> bool:
        """Return whether the recovery of this start fails."""
        return start in self._failing_starts

    def dies_in_sync(self, number: int) -> bool:
        """Return whether the process dies in this sync."""
        return number in self._crash_syncs

    def torn_bytes(self, sync: int) -> int | None:
        """Return how much of its checkpoint a sync leaves when the process dies over it."""
        return self._torn.get(sync)

    def before_effect(self) -> None:
        """Count an effect, before which the plan may let the process die."""
        self._effects += 1
        if self._effects in self._crash_effects:
            raise ProcessDied("between effects")

    def failing_record(self, key: TopicPartition, index: int) -> int | None:
        """Return the first data record from an index on that cannot be written."""
        found = [f.record for f in self._failing if self._key(f) == key and f.record >= index]
        return min(found, default=None)

    def write_failed(self, key: TopicPartition) -> None:
        """Note that the next failing record of a partition has failed. It does so once."""
        replica = self._world.client.replicas[key]
        index = self._world.book[key].index_of(self._world.book[key].next_after(replica.position))
        for place, fault in enumerate(self._failing):
            if self._key(fault) == key and fault.record == index:
                del self._failing[place]
                self._failed[key] = None
                return

    def has_failed(self, key: TopicPartition) -> bool:
        """Return whether a record of this partition has failed by plan."""
        return key in self._failed

    def reset_begins(self) -> None:
        """Count a reset, in which the plan may let the process die."""
        self._resets += 1
        self._steps_in_reset = 0

    def reset_ends(self) -> None:
        """Note that no reset is under way."""
        self._steps_in_reset = None

    def before_step(self, step: Step) -> None:
        """Let the process die before the second step of a reset, if the plan says so."""
        del step
        if self._steps_in_reset is None:
            return
        self._steps_in_reset += 1
        if self._steps_in_reset == 2 and self._resets in self._crash_resets:
            self._crash_resets.discard(self._resets)
            raise ProcessDied("within a reset", bounded=False)

    def _strikes(self, fault: StoreFault) -> list[Strike]:  # noqa: PLR0911
        process = self._world.process
        match fault:
            case CrashAt():
                return [(fault.at_ns, self._crash, (fault,))]
            case StopAt():
                return [(fault.at_ns, self._stop, (fault,))]
            case Takeover() | Deploy():
                owners, releases = self._world.owners, self._world.releases
                takes = owners.take_over if isinstance(fault, Takeover) else releases.deploy
                return [(fault.at_ns, takes, (fault,))]
            case CommitOutage() | DictionaryOutage():
                end_ns = fault.at_ns + fault.duration_ns
                return [
                    (fault.at_ns, self._out, (fault, True)),
                    (end_ns, self._out, (fault, False)),
                ]
            case Tamper():
                return [(fault.at_ns, self._tamper, (fault,))]
            case ForeignCommit():
                return [(fault.at_ns, self._foreign_commit, (fault,))]
            case Compact():
                return [(fault.at_ns, self._compact, ())]
            case TruncateLog():
                return [(fault.at_ns, self._truncate, (fault,))]
            case Rebootstrap():
                return [(fault.at_ns, self._rebootstrap, (fault,))]
            case Reopen() | SwitchSource() | TransferFromPeer():
                does: dict[type, Callable[[TopicPartition], None]] = {
                    Reopen: process.reopen,
                    SwitchSource: process.switch,
                    TransferFromPeer: self._transfer,
                }
                return [(fault.at_ns, does[type(fault)], (self._key(fault),))]
            case (
                CrashBetween()
                | CrashBetweenEffects()
                | TornWrite()
                | CrashInReset()
                | FailWrite()
                | FailRecovery()
                | CrashRate()
            ):
                return []  # not at an instant of the plan. The run ends without them
            case _:
                assert_never(fault)

    def _crash(self, fault: CrashAt) -> None:
        self._world.process.durable.will_lose(fault.loses)
        self._world.process.crash("a planned crash", down_ns=fault.down_ns)

    def _die_in(self, wait_ns: int) -> Steps:
        yield self._env.timeout(wait_ns, kind=KIND_FAULT)
        raise ProcessDied("a random crash")

    def _stop(self, fault: StopAt) -> None:
        self._world.process.stop("a planned stop", down_ns=fault.down_ns)

    def _out(self, fault: CommitOutage | DictionaryOutage, begins: bool) -> None:  # noqa: FBT001
        if isinstance(fault, CommitOutage):
            self._out_of[fault.partition] = begins
        else:
            self._world.dictionaries.up = not begins

    def _tamper(self, fault: Tamper) -> None:
        key = self._key(fault)
        if self._exists(key):
            self._excuse(key)
            damage(self._world.client, key, fault.damage)
            if fault.damage is Damage.BIT:
                self._record("tampered", key)
            else:
                self._env.trace.record("damaged", self._entity, str(key), fault.damage)
            self._world.properties.resync_checkpoint(key)

    def _foreign_commit(self, fault: ForeignCommit) -> None:
        key = self._key(fault)
        if not self._exists(key):
            return
        state = self._world.client.checkpoint(key)
        position = (-1 if state is None else state.position) + fault.ahead
        self._excuse(key)
        commit_by_another_party(self._world.client, key, position)
        self._world.properties.on_foreign_commit(key)
        self._record("foreign_commit", key, position)

    def _transfer(self, key: TopicPartition) -> None:
        if not self._exists(key):
            return
        self._excuse(key)
        if transfer_version(self._world.client, key):
            self._record("transferred", key)
            self._world.process.transferred[key] = None
            self._world.process.reopen(key)
            self._world.process.fetch_version_state(key.topic)

    def _excuse(self, key: TopicPartition) -> None:
        self._world.act(key)
        self._world.truths[key].excuse()

    def _compact(self) -> None:
        self._env.goals.reach("log_compacted")
        for feed in self._world.book.feeds.values():
            feed.compact()

    def _truncate(self, fault: TruncateLog) -> None:
        key = self._key(fault)
        if self._exists(key):
            self._world.book[key].truncate(fault.entries)
            self._record("truncated", key, self._world.book[key].end)

    def _rebootstrap(self, fault: Rebootstrap) -> None:
        self._world.process.rebootstrap(self._key(fault), wipe=fault.wipe)

    def _exists(self, key: TopicPartition) -> bool:
        return key in self._world.truths and key.topic not in self._world.dropped

    def _record(self, kind: str, key: TopicPartition, *fields: int) -> None:
        self._env.trace.record(kind, self._entity, str(key), *fields)

    def _key(
        self,
        fault: FailWrite
        | Tamper
        | ForeignCommit
        | TruncateLog
        | Rebootstrap
        | Reopen
        | TransferFromPeer
        | SwitchSource,
    ) -> TopicPartition:
        return TopicPartition(self._world.topics_of(fault.version)[0], fault.partition)


class ProcessDied(Exception):  # noqa: N818  (an event of the simulation, not an error)
    """The process died at this point, which unwinds everything that was running.

    bounded: whether everything that is repeated after it is bounded by what one interval holds.
    """

    def __init__(self, reason: str, *, bounded: bool = True) -> None:
        super().__init__(reason)
        self.reason = reason
        self.bounded = bounded


class WatchedMedium:
    """Hands everything on to another medium and reports each step before it is durable."""

    def __init__(self, inner: Medium, on_step: Callable[[Step], None]) -> None:
        self._inner = inner
        self._on_step = on_step

    @property
    def inner(self) -> Medium:
        """Return the medium that is watched."""
        return self._inner

    @property
    def atomic(self) -> bool:
        """Return whether one step may hold rows and checkpoints."""
        return self._inner.atomic

    def rows(self, area: Area, key: TopicPartition) -> Rows:
        """Return a copy of the durable rows of one partition."""
        return self._inner.rows(area, key)

    def row(self, area: Area, key: TopicPartition, name: str) -> bytes | None:
        """Return the durable value of one row, or None."""
        return self._inner.row(area, key, name)

    def slot(self, slot: Slot, key: TopicPartition) -> bytes | None:
        """Return the stored bytes of one checkpoint slot, or None."""
        return self._inner.slot(slot, key)

    def commit(self, step: Step) -> None:
        """Report a step, which may raise ProcessDied, and make it durable."""
        if step.rows or step.slots:
            self._on_step(step)
        self._inner.commit(step)

    def abandon(self, step: Step) -> None:
        """Begin a step and never commit it."""
        self._inner.abandon(step)

    def crash(self) -> None:
        """Lose everything that is not durable and open again."""
        self._inner.crash()

    def lose(self, *, areas: tuple[Area, ...], slots: bool) -> None:
        """Lose durable state of all partitions."""
        self._inner.lose(areas=areas, slots=slots)

    def close(self) -> None:
        """Release what the medium holds of the system."""
        self._inner.close()
