"""The recovery line against a search through all sets of checkpoints, and its rules one by one."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ckptsim.models.core import ProtocolError
from ckptsim.models.uncoordinated import (
    Checkpoint,
    CheckpointStored,
    DiscardCheckpoint,
    JobFailed,
    LineChannel,
    LineEffect,
    RecoveryLine,
    RollBack,
    TruncateLog,
)

CHAIN = [LineChannel(0, 1), LineChannel(1, 2)]
CYCLE = [LineChannel(0, 1), LineChannel(1, 0)]


def at(number: int, sent: dict[int, int], received: dict[int, int]) -> Checkpoint:
    """Return a checkpoint."""
    return Checkpoint(number=number, sent=sent, received=received)


def begin(count: int) -> list[Checkpoint]:
    """Return how tasks begin that have sent and received nothing."""
    return [at(0, {}, {}) for _ in range(count)]


def consistent(
    channels: list[LineChannel], chosen: tuple[Checkpoint, ...], *, logged: bool
) -> bool:
    """Return whether no channel has an orphan, or without logs a message on its way."""
    for channel, ends in enumerate(channels):
        sent = chosen[ends.sender].sent.get(channel, 0)
        received = chosen[ends.receiver].received.get(channel, 0)
        if received > sent or (received < sent and not logged):
            return False
    return True


def test_orphans_take_the_receiver_back() -> None:
    """A message that its sender has not sent yet is not in the receiver's checkpoint."""
    line = RecoveryLine(CHAIN[:1], begin(2))
    assert line.step(CheckpointStored(1, at(1, {}, {0: 3}))) == []
    assert line.step(CheckpointStored(0, at(1, {0: 2}, {}))) == [DiscardCheckpoint(0, 0)]
    assert line.step(JobFailed()) == [DiscardCheckpoint(1, 1), RollBack((1, 0))]


def test_logs_are_truncated_up_to_what_the_line_has_processed() -> None:
    """What the receiver's checkpoint on the line has processed is never sent again."""
    line = RecoveryLine(CHAIN[:1], begin(2))
    line.step(CheckpointStored(0, at(1, {0: 5}, {})))
    found = line.step(CheckpointStored(1, at(1, {}, {0: 3})))
    assert found == [DiscardCheckpoint(1, 0), TruncateLog(0, 3)]
    assert line.step(JobFailed()) == [RollBack((1, 1))]


def test_without_logs_one_step_back_causes_the_next() -> None:
    """Checkpoints that never fit together are all of no use: the domino effect."""
    line = RecoveryLine(CHAIN, begin(3), logged=False)
    for number in range(1, 5):
        assert line.step(CheckpointStored(0, at(number, {0: 10 * number}, {}))) == []
        mid = at(number, {1: 10 * number - 2}, {0: 10 * number - 1})
        assert line.step(CheckpointStored(1, mid)) == []
        assert line.step(CheckpointStored(2, at(number, {}, {1: 10 * number - 3}))) == []
    assert line.step(JobFailed())[-1] == RollBack((0, 0, 0))


def test_with_logs_a_cycle_still_has_the_domino_effect() -> None:
    """Orphans alone take both ends of a cycle back to their beginning."""
    line = RecoveryLine(CYCLE, begin(2))
    for number in range(1, 4):
        line.step(CheckpointStored(0, at(number, {0: 2 * number - 1}, {1: 2 * number})))
        line.step(CheckpointStored(1, at(number, {1: 2 * number - 1}, {0: 2 * number})))
    assert line.line == (0, 0)


def test_a_slow_file_may_come_late() -> None:
    """An older checkpoint is stored after a newer one, and discarded if the line has passed it."""
    line = RecoveryLine(CHAIN[:1], begin(2))
    line.step(CheckpointStored(0, at(2, {0: 5}, {})))
    assert line.step(CheckpointStored(0, at(1, {0: 2}, {}))) == [DiscardCheckpoint(0, 1)]
    line.step(CheckpointStored(1, at(2, {}, {0: 9})))
    assert line.step(CheckpointStored(1, at(1, {}, {0: 4}))) == [
        DiscardCheckpoint(1, 0),
        TruncateLog(0, 4),
    ]


@pytest.mark.parametrize(
    ("task", "checkpoint", "kind"),
    [
        (2, at(2, {}, {}), "unknown_task"),
        (-1, at(2, {}, {}), "unknown_task"),
        (0, at(1, {0: 9}, {}), "goes_back"),
        (0, at(2, {0: 4}, {}), "goes_back"),
    ],
)
def test_bad_checkpoints_are_refused(task: int, checkpoint: Checkpoint, kind: str) -> None:
    """A number that is taken, a count that goes back, a stranger: refused, and nothing changes."""
    line = RecoveryLine(CHAIN[:1], begin(2))
    line.step(CheckpointStored(0, at(1, {0: 5}, {})))
    with pytest.raises(ProtocolError, match=kind):
        line.step(CheckpointStored(task, checkpoint))
    assert line.line == (1, 0)


def test_a_job_begins_with_number_zero() -> None:
    """Any other number is refused."""
    with pytest.raises(ProtocolError, match="bad_begin"):
        RecoveryLine([], [at(1, {}, {})])


@st.composite
def histories(draw: st.DrawFn) -> tuple[list[LineChannel], list[tuple[int, Checkpoint]]]:
    """Return channels, cycles among them, and checkpoints with counts that grow."""
    tasks = draw(st.integers(2, 4))
    ends = st.tuples(st.integers(0, tasks - 1), st.integers(0, tasks - 1))
    channels = [LineChannel(*pair) for pair in draw(st.lists(ends, min_size=1, max_size=5))]
    counts = [[0, 0] for _ in channels]
    numbers, found = [0] * tasks, []
    for task in draw(st.lists(st.integers(0, tasks - 1), max_size=10)):
        numbers[task] += 1
        for channel, of in enumerate(channels):
            for side, one in enumerate((of.sender, of.receiver)):
                if one == task:
                    counts[channel][side] += draw(st.integers(0, 3))
        sent = {c: counts[c][0] for c, of in enumerate(channels) if of.sender == task}
        received = {c: counts[c][1] for c, of in enumerate(channels) if of.receiver == task}
        found.append((task, at(numbers[task], sent, received)))
    return channels, found


@given(histories(), st.booleans())
def test_the_line_is_the_newest_consistent_set(
    history: tuple[list[LineChannel], list[tuple[int, Checkpoint]]],
    logged: bool,
) -> None:
    """No other consistent set of all checkpoints ever stored is newer for any task.

    Everything that was discarded before the end is in no newer set: the search still has it.
    """
    channels, stored = history
    tasks = 1 + max([*(max(c.sender, c.receiver) for c in channels), *(t for t, _ in stored)])
    line = RecoveryLine(channels, begin(tasks), logged=logged)
    everything: list[list[Checkpoint]] = [[one] for one in begin(tasks)]
    effects: list[LineEffect] = []
    for task, checkpoint in stored:
        effects += line.step(CheckpointStored(task, checkpoint))
        everything[task].append(checkpoint)
    sets = [c for c in product(*everything) if consistent(channels, c, logged=logged)]
    newest = tuple(max(chosen[task].number for chosen in sets) for task in range(tasks))
    assert line.line == newest
    truncated = {e.channel: e.number for e in effects if isinstance(e, TruncateLog)}
    for channel, number in truncated.items():
        receiver = channels[channel].receiver
        assert number == everything[receiver][newest[receiver]].received[channel]
