"""Random lives of a coordinator against a plain list of everything that is running."""

from __future__ import annotations

from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from ckptsim.models.barriers.reason import FailureReason
from ckptsim.models.coordinator import CheckpointCoordinator, CoordinatorParameters
from ckptsim.models.coordinator import events as coordinator_events

TASKS = (1, 2, 3)
DECLINES = st.sampled_from(
    [
        FailureReason.CHECKPOINT_DECLINED,
        FailureReason.CHECKPOINT_DECLINED_TASK_NOT_READY,
        FailureReason.CHECKPOINT_ASYNC_EXCEPTION,
    ]
)
SETTINGS = st.builds(
    CoordinatorParameters,
    interval_ns=st.sampled_from([5, 20]),
    timeout_ns=st.just(50),
    min_pause_ns=st.sampled_from([0, 7]),
    max_concurrent=st.integers(1, 3),
    tolerable_failures=st.sampled_from([None, 2]),
    retained=st.integers(1, 3),
)


class CoordinatorLife(RuleBasedStateMachine):
    """Rules are what tasks, users, the store and time do. Invariants run after each."""

    @initialize(parameters=SETTINGS)
    def begin(self, parameters: CoordinatorParameters) -> None:
        """Start ticking."""
        self.parameters = parameters
        self.core = CheckpointCoordinator(parameters)
        self.now_ns = 0
        self.timers: dict[tuple[coordinator_events.TimerKind, int], int] = {}
        self.waiting: dict[int, set[int]] = {}  # running checkpoints and whom they wait for
        self.storing: list[int] = []
        self.savepoints: set[int] = set()
        self.forced: set[int] = set()
        self.completed: list[int] = []
        self.ended: set[int] = set()
        self.notified: set[int] = set()
        self.planning = False
        self.feed(coordinator_events.SchedulerStarted(0, 0))

    def feed(self, event: coordinator_events.CoordinatorEvent) -> None:
        """Give an event to the core and keep the books."""
        for effect in self.core.step(event):
            self.note(effect)

    def note(self, effect: coordinator_events.CoordinatorEffect) -> None:
        """Write an effect down, checking what must hold at that moment."""
        match effect:
            case coordinator_events.SetTimer():
                key = (effect.kind, effect.number)
                self.timers[key] = self.now_ns + effect.delay_ns
            case coordinator_events.CancelTimer():
                self.timers.pop((effect.kind, effect.number), None)
            case coordinator_events.PlanCheckpoint():
                assert not self.planning
                self.planning = True
            case coordinator_events.TriggerTasks():
                self.triggered(effect)
            case coordinator_events.StoreCheckpoint():
                assert not self.waiting[effect.checkpoint]
                self.storing.append(effect.checkpoint)
            case coordinator_events.CheckpointCompleted():
                self.over(effect.checkpoint)
                assert effect.duration_ns >= 0
                if effect.checkpoint not in self.savepoints:
                    assert effect.checkpoint > max(self.completed, default=0)
                    self.completed.append(effect.checkpoint)
            case coordinator_events.CheckpointFailed():
                self.over(effect.checkpoint)
            case coordinator_events.NotifyComplete():
                assert effect.checkpoint in self.completed
                assert effect.checkpoint not in self.notified
                self.notified.add(effect.checkpoint)
            case _:
                pass

    def triggered(self, effect: coordinator_events.TriggerTasks) -> None:
        """Open a checkpoint in the books."""
        checkpoint = effect.barrier.checkpoint
        assert checkpoint == len(self.ended) + len(self.waiting) + 1
        self.waiting[checkpoint] = set(TASKS)
        if effect.request.savepoint:
            self.savepoints.add(checkpoint)
        if effect.request.forced:
            self.forced.add(checkpoint)

    def over(self, checkpoint: int) -> None:
        """Close a checkpoint in the books. Nothing ends twice."""
        assert checkpoint in self.waiting
        del self.waiting[checkpoint]
        self.ended.add(checkpoint)

    @rule(span_ns=st.integers(0, 30))
    def wait(self, span_ns: int) -> None:
        """Let time pass. Timers fire when they are due."""
        end_ns = self.now_ns + span_ns
        while due := sorted((at, key) for key, at in self.timers.items() if at <= end_ns):
            at, key = due[0]
            del self.timers[key]
            self.now_ns = max(self.now_ns, at)
            self.feed(coordinator_events.TimerFired(self.now_ns, *key))
        self.now_ns = end_ns

    @rule(savepoint=st.booleans())
    def request(self, savepoint: bool) -> None:
        """Ask for a checkpoint by hand."""
        self.feed(coordinator_events.CheckpointRequested(self.now_ns, savepoint=savepoint))

    @precondition(lambda self: self.planning)
    @rule(possible=st.sampled_from([True, True, True, False]))
    def plan(self, possible: bool) -> None:
        """Answer the question for a plan."""
        self.planning = False
        answer = (
            coordinator_events.Planned(self.now_ns, TASKS, TASKS)
            if possible
            else coordinator_events.PlanRefused(self.now_ns)
        )
        self.feed(answer)

    @precondition(lambda self: self.waiting)
    @rule(data=st.data())
    def acknowledge(self, data: Any) -> None:
        """Let a task finish its part, perhaps a second time."""
        checkpoint = data.draw(st.sampled_from(sorted(self.waiting)))
        task = data.draw(st.sampled_from(TASKS))
        self.waiting[checkpoint].discard(task)
        self.feed(coordinator_events.Acknowledged(self.now_ns, checkpoint, task))

    @precondition(lambda self: self.ended)
    @rule(data=st.data())
    def acknowledge_late(self, data: Any) -> None:
        """Let a task finish its part of a checkpoint that is over."""
        checkpoint = data.draw(st.sampled_from(sorted(self.ended)))
        effects = self.core.step(coordinator_events.Acknowledged(self.now_ns, checkpoint, 1))
        assert [type(effect) for effect in effects] == [coordinator_events.DiscardState]

    @precondition(lambda self: self.waiting)
    @rule(data=st.data(), reason=DECLINES)
    def decline(self, data: Any, reason: FailureReason) -> None:
        """Let a task refuse."""
        checkpoint = data.draw(st.sampled_from(sorted(self.waiting)))
        self.feed(coordinator_events.Declined(self.now_ns, checkpoint, 1, reason))

    @precondition(lambda self: self.storing)
    @rule(data=st.data(), failed=st.sampled_from([False, False, True]))
    def store(self, data: Any, failed: bool) -> None:
        """Let the store answer."""
        checkpoint = data.draw(st.sampled_from(self.storing))
        self.storing.remove(checkpoint)
        self.feed(coordinator_events.Stored(self.now_ns, checkpoint, failed=failed))

    @invariant()
    def books_agree(self) -> None:
        """The core runs what the books run, and waits for whom they wait."""
        if not hasattr(self, "core"):
            return
        assert self.core.pending == tuple(sorted(self.waiting))
        for checkpoint, tasks in self.waiting.items():
            assert self.core.awaited(checkpoint) == tuple(sorted(tasks))
        assert list(self.core.completed) == self.completed[-self.parameters.retained :]
        running = [number for number in self.waiting if number not in self.forced]
        assert len(running) <= self.parameters.max_concurrent
        assert self.core.planning == self.planning

    @invariant()
    def ticks_go_on(self) -> None:
        """However much fails, the next tick is always set."""
        if hasattr(self, "core"):
            assert any(kind is coordinator_events.TimerKind.TICK for kind, _ in self.timers)


CoordinatorLife.TestCase.settings = settings(max_examples=120, stateful_step_count=40)
TestCoordinatorLife = CoordinatorLife.TestCase
