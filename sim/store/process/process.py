"""The process around the client: it starts, recovers, stops gracefully, dies and starts again.

Anyone who keeps it running starts it again after each end.  What runs in one start are its threads:
a main thread that recovers and stops, one per partition, watchdog, retries.  A crash ends them all
at that very instant. Where it strikes inside one of them it unwinds that one as ProcessDied.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ckptsim.models.store import Refusal, StoreError, TopicPartition
from ckptsim.models.store.state import NOTHING
from ckptsim.sim.store.faults import ProcessDied
from ckptsim.sim.store.process.durable import DurableState
from ckptsim.sim.store.process.syncing import Steps, Threads
from ckptsim.sim.store.vocabulary import KIND_OUTSIDE, KIND_START

if TYPE_CHECKING:
    from ckptsim.models.store.replica import Replica
    from ckptsim.sim.store.process.drainer import Drainer
    from ckptsim.sim.store.world import StoreWorld


@dataclass(slots=True, kw_only=True)
class Recovery:
    """One restart: why, when, from where, and the work done again because of it."""

    start: int
    reason: str
    failed_ns: int
    resumed_ns: int | None = None
    restored_from: str | None = None
    reprocessed: int = 0
    undone: int = 0  # records that had been applied after the checkpoints it restored
    lost: int = 0  # records after those checkpoints without a durable effect
    bounded: bool = True  # whether the bound of one interval applies to what it repeats


# A watchdog that fires so often in a row will fire for ever.
_WATCHDOG_ROUNDS = 5
# Of more than twice so many partitions a restart names these.
_NAMED = 4
# A partition that is errored so often at one position will be errored there for ever.
_ERROR_ROUNDS = 10


class ProcessHost:
    """The one process of a run.

    threads, recovered: of the present start, or of the last one while the process is down.
    """

    def __init__(self, world: StoreWorld) -> None:
        self._world = world
        self._env = world.env
        self.entity = world.env.entity("process")
        self.up = False
        self.paused = True
        self.stopping = False
        self.starts = 0
        self.recoveries: list[Recovery] = []
        self.refused: dict[TopicPartition, str] = {}
        self.transferred: dict[TopicPartition, None] = {}  # with the version of another region
        self.durable = DurableState(world, self)
        self.down_since = 0
        self._watchdogs = 0
        self._errors: dict[tuple[TopicPartition, int], int] = {}
        self._begin_start()

    @property
    def busy(self) -> bool:
        """Return whether the process is down, recovering or stopping."""
        return not self.up or self.paused or self.stopping

    def run(self) -> Steps:
        """Start, live until a graceful stop or a crash, be down for a while, start again."""
        down_ns: int | None = 0
        while down_ns is not None:
            yield self._env.timeout(down_ns, kind=KIND_START)
            self._begin_start()
            self.threads.start(self._live(), self.entity)
            down_ns = yield self._ended
        self._world.finish()

    def _begin_start(self) -> None:
        self.threads = Threads(self._env, self._die)
        self.recovered = self._env.event()
        self._stop_wanted = self._env.event()  # with the time that it is to be down, None for ever
        self._ended = self._env.event()  # likewise

    # The main thread ---------------------------------------------------------------------------

    def _live(self) -> Steps:
        """Recover all partitions, let them be drained, and close when a stop is wanted."""
        world = self._world
        self.starts += 1
        self.up, self.paused, self.stopping = True, True, False
        self._env.trace.record("started", self.entity, self.starts)
        world.releases.take_over()
        world.owners.begin(self.starts)
        world.endpoint.begin()
        self.durable.losses_strike()
        if world.faults.recovery_fails(self.starts):
            self._env.goals.reach("recovery_failed")
            if world.client.fails_as_a_task:
                raise ProcessDied("the recovery of a partition failed")
            return  # the process stays up, and all its partitions paused
        replay_ns = self._recover()
        world.faults.process_started(self.threads)
        if world.model.watchdog_ns:
            self.threads.start(self._watch(world.model.watchdog_ns), self.entity)
        for topic in dict.fromkeys(key.topic for key in world.partitions()):
            self.fetch_version_state(topic)
        yield self._env.timeout(replay_ns, kind=KIND_START)
        self._consume()
        down_ns = yield self._stop_wanted
        drainers = list(world.drainers.values())
        for drainer in drainers:
            drainer.stop()
        for drainer in drainers:
            yield from drainer.join()
        self._close(down_ns)

    def _recover(self) -> int:
        """Open every partition. Return how long the replay of the mirrors takes."""
        world = self._world
        replay_ns = 0
        for key in world.partitions():
            replayed = world.client.journal.replayed
            self._open(key)
            rows = world.client.journal.replayed - replayed
            replay_ns = max(replay_ns, rows * world.model.costs.replay_row_ns)
        if self.recoveries and self.recoveries[-1].restored_from is None:
            self.recoveries[-1].restored_from = self._positions()
        return replay_ns + world.endpoint.read_copies()

    def _consume(self) -> None:
        """Let the partitions be drained, now that all have recovered."""
        self.paused = False
        if self.recoveries and self.recoveries[-1].resumed_ns is None:
            self.recoveries[-1].resumed_ns = self._env.now
        self.recovered.succeed()
        self._world.owners.successor_begins()
        self._world.caught_up()

    def _close(self, down_ns: int | None) -> None:
        self.stopping = False
        self.threads.end()
        self._world.client.close_all()
        if down_ns is None:
            self.up = False
            self._ended.succeed(None)
        else:
            self._go_down("a graceful stop", down_ns)

    # Other threads -----------------------------------------------------------------------------

    def _watch(self, wait_ns: int) -> Steps:
        """Let the process die when no completion is reported in time."""
        yield self._env.timeout(wait_ns, kind=KIND_OUTSIDE)
        world = self._world
        states = (world.client.known_state(key) for key in world.partitions())
        if all(state is not None and state.end_of_push for state in states):
            self._watchdogs = 0
            return
        self._watchdogs += 1
        self._env.goals.reach("watchdog_fired")
        if self._watchdogs >= _WATCHDOG_ROUNDS:
            world.give_up("the watchdog restarts the process for ever: no completion is reported")
            return
        raise ProcessDied("the watchdog saw no completion")

    def fetch_version_state(self, topic: str) -> None:
        """Let the state of a version be regenerated, if the process is there to do it."""
        if self.up:
            self.threads.start(self._fetch_version_state(topic), self.entity)

    def _fetch_version_state(self, topic: str) -> Steps:
        """Regenerate the state of a version. Ask again while its dictionary cannot be had."""
        world = self._world
        fetched = world.client.journal.dictionary_fetches
        while topic not in world.dropped and world.client.topics.knows(topic):
            try:
                yield from world.endpoint.fetch(topic)
                state = world.versions.state(topic)
            except StoreError as error:
                if error.refusal is not Refusal.DICT_UNAVAILABLE:
                    world.properties.versions.failed(topic, error)
                    return
                self._env.goals.reach("dictionary_unavailable")
                world.properties.versions.dictionary_missing(topic)
                world.endpoint.forget(topic)
                yield self._env.timeout(world.model.process.retry_ns, kind=KIND_OUTSIDE)
                continue
            if world.client.journal.dictionary_fetches > fetched:
                self._env.goals.reach("dictionary_fetched")
            world.properties.versions.regenerated(topic, state)
            return

    def open_later(self, drainer: Drainer) -> None:
        """Let an errored partition be opened anew after a while."""
        self.threads.start(self._open_later(drainer, drainer.replica), drainer.entity)

    def _open_later(self, drainer: Drainer, errored: Replica | None) -> Steps:
        """Open an errored partition anew, unless someone has done so meanwhile."""
        yield self._env.timeout(self._world.model.process.reopen_ns, kind=KIND_START)
        if self.stopping or errored is None or drainer.replica is not errored:
            return
        self._world.properties.on_reopen(drainer)
        place = (drainer.key, errored.position)
        self._errors[place] = self._errors.get(place, 0) + 1
        if self._errors[place] > _ERROR_ROUNDS:
            self._world.give_up(f"{drainer.key} is errored at {place[1]} again and again")
            return
        self.reopen(drainer.key)

    # Partitions --------------------------------------------------------------------------------

    def open(self, key: TopicPartition) -> None:
        """Open a partition from outside of the main thread. The process may die on the way."""
        try:
            self._open(key)
        except ProcessDied as died:
            self._die(died)

    def _open(self, key: TopicPartition) -> None:
        """Open a partition, with the checks of identity and integrity before."""
        world = self._world
        world.act(key)
        try:
            self.durable.check(key)
            world.client.open(key)
        except StoreError as error:
            if not self.durable.opened_after(key, error):
                return
        drainer, replica = world.drainers[key], world.client.replicas[key]
        if self.recoveries and self.paused:
            undone = world.book[key].left_between(replica.position, drainer.left_at)
            self.recoveries[-1].undone += undone
        drainer.start(replica)
        world.properties.on_open(key)
        lost = world.truths[key].newly_lost(world.book[key], replica.position)
        if self.recoveries and self.paused:
            self.recoveries[-1].lost += lost
        self._env.trace.record("opened", self.entity, str(key), self._position(key))

    def reset(self, key: TopicPartition, *, wipe: bool) -> None:
        """Delete the checkpoint of a partition, and wipe its rows if asked to."""
        world, truth = self._world, self._world.truths[key]
        world.act(key)
        world.drainers[key].die("a reset")
        truth.excuse()
        world.faults.reset_begins()
        world.client.close(key)
        try:
            world.client.reset(key, wipe=wipe)
            truth.was_reset = True
        finally:
            world.faults.reset_ends()
            world.properties.resync_account(key)

    def rebootstrap(self, key: TopicPartition, *, wipe: bool) -> None:
        """Start a partition from scratch. The process may die on the way."""
        if not self._consumes(key):
            return
        self._env.goals.reach("rebootstrapped")
        self._env.trace.record("rebootstrap", self.entity, str(key), wipe)
        self.unbounded()
        try:
            self.reset(key, wipe=wipe)
            self._open(key)
        except ProcessDied as died:
            self._die(died)

    def begin_anew(self, topic: str) -> bool:
        """Let the partitions that came from a peer start from scratch, and return if any did.

        Their operator does so in a while, after partitions of the topic disagree.
        """
        found = [key for key in self.transferred if key.topic == topic]
        for key in found:
            self._env.goals.reach("versions_disagree")
            self.threads.start(self._begin_anew(key), self._world.drainers[key].entity)
        return bool(found)

    def _begin_anew(self, key: TopicPartition) -> Steps:
        yield self._env.timeout(self._world.model.process.reopen_ns, kind=KIND_START)
        if key in self.transferred:
            del self.transferred[key]
            self.rebootstrap(key, wipe=True)

    def switch_later(self, drainer: Drainer) -> None:
        """Let a server consume its other log some time after a topic switch."""
        if self._world.model.input.switch_after_ns:
            self.threads.start(self._switch_later(drainer.key), drainer.entity)

    def _switch_later(self, key: TopicPartition) -> Steps:
        yield self._env.timeout(self._world.model.input.switch_after_ns, kind=KIND_START)
        self.switch(key)

    def switch(self, key: TopicPartition) -> None:
        """Let a partition consume its other log."""
        if self._consumes(key):
            self._world.drainers[key].switch()

    def reopen(self, key: TopicPartition) -> None:
        """Unsubscribe from a partition and subscribe again.

        Everything that was not synced is dropped.
        """
        if not self._consumes(key):
            return
        self._world.drainers[key].unsubscribe()
        self._env.goals.reach("partition_reopened")
        self.open(key)

    # Ends -----------------------------------------------------------------------------------------

    def crash(self, reason: str, *, down_ns: int = 0) -> None:
        """Die at once, and start again after a while."""
        if not self.up:
            return
        world = self._world
        self._env.goals.reach("crashed")
        self._env.trace.record("crashed", self.entity, reason)
        goal = {
            "between effects": "crashed_between_effects",
            "between the steps of a sync": "crashed_between_steps",
            "within a sync": "crashed_within_sync",
            "within a write": "crashed_within_write",
            "within a reset": "crashed_in_reset",
        }.get(reason)
        if goal is not None:
            self._env.goals.reach(goal)
        for drainer in world.drainers.values():
            drainer.die(reason)
        self.threads.end()
        world.client.crash()
        self._go_down(reason, down_ns)

    def stop(self, reason: str, *, down_ns: int | None) -> None:
        """Stop gracefully: one last sync per partition, then close. None: not to start again."""
        if not self.up or self.stopping:
            return
        self.stopping = True
        self._env.trace.record("stopping", self.entity, reason)
        self._stop_wanted.succeed(down_ns)

    def _die(self, died: ProcessDied) -> None:
        self.crash(died.reason)
        if not died.bounded:
            self.unbounded()

    def _go_down(self, reason: str, down_ns: int) -> None:
        world, now_ns = self._world, self._env.now
        self.up, self.down_since = False, now_ns
        world.costs.restarted()
        # Who dies before all partitions are open leaves everything that is repeated to the start
        # after it, and with that the excuse of everything that was not committed before.
        before = self.recoveries[-1] if self.recoveries else None
        bounded = before is None or before.restored_from is not None or before.bounded
        row = Recovery(start=self.starts, reason=reason, failed_ns=now_ns, bounded=bounded)
        self.recoveries.append(row)
        world.properties.on_down()
        self._ended.succeed(down_ns + world.model.process.restart_ns)

    def reprocessed(self, records: int) -> None:
        """Account for records that are applied again since the last restart."""
        if self.recoveries:
            self.recoveries[-1].reprocessed += records

    def _consumes(self, key: TopicPartition) -> bool:
        world = self._world
        known = key in world.drainers and key.topic not in world.dropped
        return known and self.up and not self.stopping

    def unbounded(self) -> None:
        """Excuse the present restart from the bound on what it repeats."""
        if self.recoveries:
            self.recoveries[-1].bounded = False

    def _position(self, key: TopicPartition) -> int:
        replica = self._world.client.replicas.get(key)
        return NOTHING if replica is None else replica.position

    def _positions(self) -> str:
        keys = self._world.partitions()
        more = f" and {len(keys) - _NAMED} more" if len(keys) > 2 * _NAMED else ""
        named = keys[:_NAMED] if more else keys
        return ", ".join(f"{key} {self._position(key)}" for key in named) + more
