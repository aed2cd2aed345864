"""A sink's transactions over crashes: what its state keeps, and what recovery does with it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ckptsim.models.core import ProtocolError
from ckptsim.models.lifecycle import (
    SinkState,
    StopMode,
    TaskKind,
    TaskLifecycle,
    TaskParameters,
)
from ckptsim.models.lifecycle import effects as lifecycle_effects
from ckptsim.models.lifecycle import events as lifecycle_events
from tests.mutants.lifecycle import RecoversNothing, RecoversWhatWasOpen

SINK = TaskParameters(
    kind=TaskKind.NON_SOURCE, gate_channels=(1,), output_channels=0, sink_opens_after_finish=False
)


@pytest.mark.parametrize(
    ("states", "expected"),
    [
        ((), []),
        ((SinkState(pending=(), open="a"),), [lifecycle_effects.RecoverAndAbort("a")]),
        ((SinkState(pending=("a",), open=None),), [lifecycle_effects.RecoverAndCommit("a")]),
        (
            (SinkState(pending=("a", "b"), open="c"),),
            [
                lifecycle_effects.RecoverAndCommit("a"),
                lifecycle_effects.RecoverAndCommit("b"),
                lifecycle_effects.RecoverAndAbort("c"),
            ],
        ),
        (
            (SinkState(pending=("a",), open="b"), SinkState(pending=("c",), open="d")),
            [
                lifecycle_effects.RecoverAndCommit("a"),
                lifecycle_effects.RecoverAndAbort("b"),
                lifecycle_effects.RecoverAndCommit("c"),
                lifecycle_effects.RecoverAndAbort("d"),
            ],
        ),
    ],
)
def test_recovery_commits_what_is_pending_and_aborts_what_was_open(
    states: tuple[SinkState, ...], expected: list[lifecycle_effects.Effect]
) -> None:
    """Element by element, the pre-committed ones oldest first, then the open one."""
    task = TaskLifecycle(SINK)
    assert task.step(lifecycle_events.StateRestored(states)) == expected
    assert task.transactions is not None
    assert task.transactions.pending == ()  # the ones of before are not this attempt's
    assert task.transactions.open


@pytest.mark.parametrize(
    "parameters",
    [
        TaskParameters(kind=TaskKind.SOURCE),
        TaskParameters(kind=TaskKind.NON_SOURCE, gate_channels=(1,)),
        replace(SINK, finished_on_restore=True),
    ],
)
def test_only_a_sink_that_runs_has_transactions_to_recover(parameters: TaskParameters) -> None:
    """Any other task refuses the event, and nothing has changed."""
    task = TaskLifecycle(parameters)
    with pytest.raises(ProtocolError, match="not_a_sink"):
        task.step(lifecycle_events.StateRestored(()))


@dataclass(frozen=True)
class Snapshot:
    """What a completed checkpoint holds: how far the sink had read, and its list state."""

    position: int
    state: SinkState


class Rig:
    """One sink that numbers what it writes, its external system, and completed checkpoints."""

    def __init__(self, build: type[TaskLifecycle]) -> None:
        self.build = build
        self.records: dict[str, list[int]] = {}
        self.committed: list[str] = []
        self.aborted: set[str] = set()
        self.snapshots: dict[int, Snapshot] = {}
        self.completed = 0
        self.number = 0
        self.deploy()

    def deploy(self) -> None:
        """Start the sink from the latest completed checkpoint, if there is one."""
        latest = self.snapshots.get(self.completed)
        self.position = 0 if latest is None else latest.position
        self.pending: dict[int, str] = {}
        self.core = self.build(replace(SINK, restored_from=self.completed))
        self.carry_out(
            self.core.step(lifecycle_events.StateRestored((latest.state,) if latest else ()))
        )
        self.open: str | None = self.begin()

    def begin(self) -> str:
        name = f"t{len(self.records)}"
        self.records[name] = []
        return name

    def write(self) -> None:
        assert self.open is not None
        self.records[self.open].append(self.position)
        self.position += 1

    def checkpoint(self) -> None:
        self.number += 1
        self.carry_out(self.core.step(lifecycle_events.CheckpointPerformed(self.number)))
        state = SinkState(pending=tuple(self.pending.values()), open=self.open)
        self.snapshots[self.number] = Snapshot(self.position, state)

    def complete(self) -> None:
        """Complete the newest checkpoint, if it is of this attempt."""
        if self.number in self.pending:
            self.completed = self.number

    def notify(self) -> None:
        if self.completed:
            self.carry_out(self.core.step(lifecycle_events.CheckpointCompleted(self.completed)))

    def carry_out(self, effects: list[lifecycle_effects.Effect]) -> None:
        for effect in effects:
            match effect:
                case lifecycle_effects.PrecommitTransaction(number):
                    assert self.open is not None
                    self.pending[number] = self.open
                    kept = self.core.transactions
                    self.open = self.begin() if kept is not None and kept.open else None
                case lifecycle_effects.CommitTransactions(_, numbers):
                    for number in numbers:
                        self.commit(self.pending.pop(number))
                case lifecycle_effects.RecoverAndCommit(name):
                    self.commit(name)
                case lifecycle_effects.RecoverAndAbort(name):
                    self.aborted.add(name)

    def commit(self, name: str) -> None:
        if name not in self.committed and name not in self.aborted:
            self.committed.append(name)

    def end(self) -> list[int]:
        """End the input with a final checkpoint and return all that was committed, in order."""
        self.write()
        self.carry_out(self.core.step(lifecycle_events.EndOfDataReceived(0, StopMode.DRAIN)))
        self.checkpoint()
        self.complete()
        self.notify()
        return sorted(r for name in self.committed for r in self.records[name])


ACTS = st.lists(
    st.sampled_from(["write", "write", "checkpoint", "complete", "notify", "deploy"]), max_size=40
)


@settings(max_examples=300)
@given(ACTS)
def test_every_record_is_committed_once_whatever_crashes(acts: list[str]) -> None:
    """A crash falls anywhere. No transaction is both committed and aborted."""
    rig = Rig(TaskLifecycle)
    for act in acts:
        getattr(rig, act)()
        assert not rig.aborted & set(rig.committed)
    assert rig.end() == list(range(rig.position))


@settings(max_examples=300)
@given(ACTS)
def test_what_nobody_ends_was_begun_after_the_restored_checkpoint(acts: list[str]) -> None:
    """A start commits or aborts all transactions of its completed checkpoint."""
    rig = Rig(TaskLifecycle)
    for act in acts:
        getattr(rig, act)()
        if act == "deploy" and rig.completed:
            state = rig.snapshots[rig.completed].state
            assert set(state.pending) <= set(rig.committed)
            assert state.open is None or state.open in rig.aborted


@pytest.mark.parametrize("build", [RecoversNothing, RecoversWhatWasOpen])
def test_faulty_recovery_loses_or_repeats_records(build: type[TaskLifecycle]) -> None:
    """A crash between completion and its word, with records after the checkpoint."""
    outputs = []
    for make in (TaskLifecycle, build):
        rig = Rig(make)
        for act in ("write", "checkpoint", "write", "complete", "deploy", "write"):
            getattr(rig, act)()
        outputs.append(rig.end())
    assert outputs[0] == [0, 1, 2]
    assert outputs[1] != outputs[0]
