"""The process around the client: it starts, recovers, stops gracefully, dies and starts again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ckptsim.models.store import Refusal, StoreError, TopicPartition
from ckptsim.models.store.partition_state import NOTHING
from ckptsim.sim.store.durable import DurableState
from ckptsim.sim.store.kinds import KIND_OUTSIDE, KIND_START
from ckptsim.sim.store.recovery import Recovery
from ckptsim.sim.store.watched import ProcessDied

if TYPE_CHECKING:
    from ckptsim.sim.store.drainer import Drainer
    from ckptsim.sim.store.world import StoreWorld

# A watchdog that fires so often in a row will fire for ever.
_WATCHDOG_ROUNDS = 5
# A partition that is errored so often at one position will be errored there for ever.
_ERROR_ROUNDS = 10


class Process:
    """The one process of a run."""

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
        self.durable = DurableState(world, self)
        self._restart = True
        self._down_ns = 0
        self.down_since = 0
        self._watchdogs = 0
        self._errors: dict[tuple[TopicPartition, int], int] = {}

    @property
    def busy(self) -> bool:
        """Say whether the process is down, recovering or stopping."""
        return not self.up or self.paused or self.stopping

    def start(self) -> None:
        """Start: lose what is lost, open every partition, and consume when all have recovered."""
        world, env = self._world, self._env
        self.starts += 1
        self.up, self.paused, self.stopping = True, True, False
        env.trace.record("started", self.entity, self.starts)
        world.releases.take_over()
        self.durable.losses_strike()
        if world.faults.recovery_fails(self.starts):
            env.goals.reach("recovery_failed")
            if world.client.fails_as_a_task:
                self.crash("the recovery of a partition failed")
            return
        replay_ns = 0
        for key in world.partitions():
            replayed = world.client.journal.replayed
            self.open(key)
            if not self.up:
                return
            rows = world.client.journal.replayed - replayed
            replay_ns = max(replay_ns, rows * world.model.costs.replay_row_ns)
        if self.recoveries and self.recoveries[-1].restored_from is None:
            self.recoveries[-1].restored_from = self._positions()
        env.call_in(replay_ns, KIND_START, self.entity, self._unpause, self.starts)
        world.faults.process_started(self.starts)
        if world.model.watchdog_ns:
            wait_ns = world.model.watchdog_ns
            env.call_in(wait_ns, KIND_OUTSIDE, self.entity, self._watchdog, self.starts)
        for topic in dict.fromkeys(key.topic for key in world.partitions()):
            self.fetch_version_state(topic)

    def open(self, key: TopicPartition) -> None:
        """Open a partition, with the checks of identity and integrity before."""
        world = self._world
        world.act(key)
        try:
            self.durable.check(key)
            world.client.open(key)
        except ProcessDied:
            self._die_within_reset()
            return
        except StoreError as error:
            if not self.durable.opened_after(key, error):
                return
        drainer, replica = world.drainers[key], world.client.replicas[key]
        if self.recoveries and self.paused:
            feed = world.book[key]
            undone = feed.index_of(drainer.left_at + 1) - feed.index_of(replica.position + 1)
            self.recoveries[-1].undone += max(0, undone)
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
        world.client.replicas.pop(key, None)
        try:
            world.client.reset(key, wipe=wipe)
            truth.was_reset = True
        finally:
            world.faults.reset_ends()
            world.properties.resync_account(key)

    def rebootstrap(self, key: TopicPartition, *, wipe: bool) -> None:
        """Start a partition from scratch; the process may die on the way."""
        if not self._consumes(key):
            return
        self._env.goals.reach("rebootstrapped")
        self._env.trace.record("rebootstrap", self.entity, str(key), wipe)
        self.unbounded()
        try:
            self.reset(key, wipe=wipe)
        except ProcessDied:
            self._die_within_reset()
            return
        self.open(key)
        self._world.drainers[key].go()

    def reopen(self, key: TopicPartition) -> None:
        """Unsubscribe from a partition and subscribe again; what was not synced is dropped."""
        if not self._consumes(key):
            return
        self._world.drainers[key].unsubscribe()
        self._env.goals.reach("partition_reopened")
        self.open(key)
        self._world.drainers[key].go()

    def reopen_errored(self, drainer: Drainer, starts: int) -> None:
        """Open an errored partition anew, unless the process was restarted meanwhile."""
        if starts == self.starts and not self.stopping and drainer.replica is not None:
            self._world.properties.on_reopen(drainer)
            place = (drainer.key, drainer.replica.position)
            self._errors[place] = self._errors.get(place, 0) + 1
            if self._errors[place] > _ERROR_ROUNDS:
                self._world.give_up(f"{drainer.key} is errored at {place[1]} again and again")
                return
            self.reopen(drainer.key)

    def crash(self, reason: str, *, down_ns: int = 0) -> None:
        """Die at once, and start again after a while."""
        if not self.up:
            return
        world = self._world
        self._env.goals.reach("crashed")
        self._env.trace.record("crashed", self.entity, reason)
        goal = {
            "between the steps of a sync": "crashed_between_steps",
            "within a sync": "crashed_within_sync",
            "within a reset": "crashed_in_reset",
        }.get(reason)
        if goal is not None:
            self._env.goals.reach(goal)
        for drainer in world.drainers.values():
            drainer.die(reason)
        world.client.crash()
        self._goes_down(reason, down_ns)

    def stop(self, reason: str, *, down_ns: int = 0, restart: bool = True) -> None:
        """Stop gracefully: one last sync per partition, then close."""
        if not self.up or self.stopping:
            return
        self.stopping, self._restart, self._down_ns = True, restart, down_ns
        self._env.trace.record("stopping", self.entity, reason)
        for key in self._world.partitions():
            self._world.drainers[key].stop()
        self.partition_stopped()

    def partition_stopped(self) -> None:
        """Close when every partition has stopped."""
        world = self._world
        if not self.stopping or any(d.replica is not None for d in world.drainers.values()):
            return
        self.stopping = False
        world.client.replicas = {}
        if self._restart:
            self._goes_down("a graceful stop", self._down_ns)
        else:
            self.up = False
            world.finish()

    def reprocessed(self, records: int) -> None:
        """Account for records that are applied again since the last restart."""
        if self.recoveries:
            self.recoveries[-1].reprocessed += records

    def fetch_version_state(self, topic: str) -> None:
        """Regenerate the state of a version; ask again while its dictionary cannot be had."""
        world = self._world
        if not self.up or topic in world.dropped or not world.client.topics.knows(topic):
            return
        fetched = world.client.journal.dictionary_fetches
        try:
            state = world.versions.state(topic)
        except StoreError as error:
            if error.refusal is Refusal.DICT_UNAVAILABLE:
                self._env.goals.reach("dictionary_unavailable")
                wait_ns = world.model.process.retry_ns
                self._env.call_in(
                    wait_ns, KIND_OUTSIDE, self.entity, self.fetch_version_state, topic
                )
                return
            world.properties.on_version_error(topic, error)
            return
        if world.client.journal.dictionary_fetches > fetched:
            self._env.goals.reach("dictionary_fetched")
        world.properties.on_version_state(topic, state)

    def _consumes(self, key: TopicPartition) -> bool:
        world = self._world
        known = key in world.drainers and key.topic not in world.dropped
        return known and self.up and not self.stopping

    def _die_within_reset(self) -> None:
        self.crash("within a reset")
        self.unbounded()

    def _goes_down(self, reason: str, down_ns: int) -> None:
        env, world = self._env, self._world
        self.up, self.down_since = False, env.now
        world.costs.restarted()
        self.recoveries.append(Recovery(start=self.starts, reason=reason, failed_ns=env.now))
        world.properties.on_down()
        wait_ns = down_ns + world.model.process.restart_ns
        env.call_in(wait_ns, KIND_START, self.entity, self.start)

    def _unpause(self, starts: int) -> None:
        if starts != self.starts or not self.up:
            return
        self.paused = False
        if self.recoveries and self.recoveries[-1].resumed_ns is None:
            self.recoveries[-1].resumed_ns = self._env.now
        for key in self._world.partitions():
            self._world.drainers[key].go()
        self._world.caught_up()

    def _watchdog(self, starts: int) -> None:
        world = self._world
        if starts != self.starts or not self.up:
            return
        states = (world.client.known_state(key) for key in world.partitions())
        if all(state is not None and state.end_of_push for state in states):
            self._watchdogs = 0
            return
        self._watchdogs += 1
        self._env.goals.reach("watchdog_fired")
        if self._watchdogs >= _WATCHDOG_ROUNDS:
            world.give_up("the watchdog restarts the process for ever: no completion is reported")
            return
        self.crash("the watchdog saw no completion")

    def unbounded(self) -> None:
        """Excuse the present restart from the bound on what it repeats."""
        if self.recoveries:
            self.recoveries[-1].bounded = False

    def _position(self, key: TopicPartition) -> int:
        replica = self._world.client.replicas.get(key)
        return NOTHING if replica is None else replica.position

    def _positions(self) -> str:
        return ", ".join(f"{key} {self._position(key)}" for key in self._world.partitions())
