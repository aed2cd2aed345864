"""A gate that takes in-flight data over: phases, virtual channels, watermarks, broken records."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ckptsim.models.core import ProtocolError
from ckptsim.models.recovery import DISTRIBUTIONS, Partitioner, recovered_input
from ckptsim.models.recovery.in_flight import ConnectionDescriptor, Exchange, InFlightAssignment
from ckptsim.models.recovery.records import Broken, RecordDeserializer, RecordPart, parts_of


def gate(
    old: tuple[int, int], new: tuple[int, int], *, subtask: int = 0, own: tuple[int, ...] = ()
) -> recovered_input.RecoveredInput:
    """Return the gate of a subtask after a keyed edge. own: the records that are sent to it."""
    one = Exchange(distribution=DISTRIBUTIONS[Partitioner.KEY_GROUP], old=old, new=new)
    assignment = InFlightAssignment().gate(one, subtask)
    return recovered_input.RecoveredInput(assignment, new[0], accepts=own.__contains__)


def select(core: recovered_input.RecoveredInput, subtask: int, channel: int) -> None:
    """Select an old channel on channel 0."""
    assert (
        core.step(recovered_input.DescriptorTaken(0, ConnectionDescriptor(subtask, channel))) == []
    )


def take(
    core: recovered_input.RecoveredInput, part: RecordPart
) -> list[recovered_input.RecoveredInputEffect]:
    """Take a part from channel 0."""
    return core.step(recovered_input.PartTaken(0, part))


def test_channels_are_converted_when_all_have_ended_and_senders_go_on_together() -> None:
    """Partitions are requested after the last input state, senders resumed after all markers."""
    core = gate((2, 2), (2, 1))
    assert core.step(recovered_input.InputStateEnded(1)) == []
    assert not core.may_persist
    assert core.step(recovered_input.QueueEmpty(0)) == []
    assert core.step(recovered_input.StateRead(0)) == []
    assert core.step(recovered_input.QueueEmpty(0)) == []
    assert core.step(recovered_input.InputStateEnded(0)) == [recovered_input.ConvertChannels()]
    assert core.step(recovered_input.OutputStateEnded(0)) == []
    assert not core.may_persist
    assert core.step(recovered_input.OutputStateEnded(1)) == [recovered_input.ResumeSenders((0, 1))]
    assert core.may_persist
    assert core.phase is recovered_input.GatePhase.RECOVERED


@pytest.mark.parametrize(
    "events",
    [
        [recovered_input.OutputStateEnded(0)],
        [recovered_input.InputStateEnded(0), recovered_input.InputStateEnded(0)],
        [
            recovered_input.InputStateEnded(0),
            recovered_input.OutputStateEnded(0),
            recovered_input.OutputStateEnded(0),
        ],
        [recovered_input.PartTaken(0, RecordPart(1, 0, 1))],
        [recovered_input.DescriptorTaken(0, ConnectionDescriptor(7, 0))],
    ],
)
def test_what_does_not_fit_is_refused(events: list[recovered_input.RecoveredInputEvent]) -> None:
    """An end out of turn, data of no one and an old channel that is not taken over are errors."""
    core = gate((2, 2), (1, 1))
    *before, last = events
    for event in before:
        core.step(event)
    phase = core.phase
    with pytest.raises(ProtocolError):
        core.step(last)
    assert core.phase is phase


def test_parts_of_two_old_senders_meet_only_their_own() -> None:
    """Scale-in upstream: two records cut in two old channels come out whole from one channel."""
    core = gate((2, 1), (1, 1))
    for upstream, record in ((0, 10), (1, 20)):
        select(core, 0, upstream)
        assert take(core, RecordPart(record, 0, 2)) == []
    assert core.partial == (RecordPart(10, 0, 2), RecordPart(20, 0, 2))
    core.step(recovered_input.InputStateEnded(0))
    for upstream, record in ((0, 10), (1, 20)):
        select(core, 0, upstream)
        assert take(core, RecordPart(record, 1, 2)) == [recovered_input.ProcessRecord(record)]
    assert core.partial == ()


def test_ambiguous_records_are_kept_by_one() -> None:
    """Of two new subtasks that take an old one over, the owner keeps a record, the other not."""
    owner, other = gate((1, 1), (1, 2), own=(5,)), gate((1, 1), (1, 2), subtask=1)
    for core, expected in (
        (owner, recovered_input.ProcessRecord(5)),
        (other, recovered_input.FilterRecord(5)),
    ):
        select(core, 0, 0)
        assert take(core, RecordPart(5, 0, 1)) == [expected]


def test_watermark_waits_for_all_virtual_channels() -> None:
    """Nothing is forwarded until each has one. Then the least of them."""
    core = gate((2, 1), (1, 1))
    select(core, 0, 0)
    assert core.step(recovered_input.WatermarkTaken(0, 50)) == []
    select(core, 0, 1)
    assert core.step(recovered_input.WatermarkTaken(0, 30)) == [
        recovered_input.ForwardWatermark(0, 30)
    ]
    assert core.step(recovered_input.WatermarkTaken(0, 80)) == [
        recovered_input.ForwardWatermark(0, 50)
    ]


def test_channel_is_idle_when_all_virtual_channels_are() -> None:
    """One active old channel keeps the channel active."""
    core = gate((2, 1), (1, 1))
    select(core, 0, 0)
    assert core.step(recovered_input.StatusTaken(0, idle=True)) == [
        recovered_input.ForwardStatus(0, idle=False)
    ]
    select(core, 0, 1)
    assert core.step(recovered_input.StatusTaken(0, idle=True)) == [
        recovered_input.ForwardStatus(0, idle=True)
    ]
    assert core.step(recovered_input.StatusTaken(0, idle=False)) == [
        recovered_input.ForwardStatus(0, idle=False)
    ]


def test_without_a_change_there_are_no_virtual_channels() -> None:
    """An identity passes watermarks on, may be persisted, and hands its deserializers over."""
    core = gate((1, 1), (1, 1))
    assert core.may_persist
    assert core.step(recovered_input.WatermarkTaken(0, 3)) == [
        recovered_input.ForwardWatermark(0, 3)
    ]
    assert take(core, RecordPart(1, 0, 2)) == []
    assert core.deserializer(0).partial == [RecordPart(1, 0, 2)]


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(1, 4)), max_size=20), st.randoms())
def test_any_interleaving_of_old_channels_gives_every_record_whole(
    records: list[tuple[int, int]], random: st.DataObject
) -> None:
    """However parts of three old channels are interleaved, each record comes out once, in order."""
    core = gate((3, 1), (1, 1))
    waiting: dict[int, list[RecordPart]] = {0: [], 1: [], 2: []}
    for number, (upstream, count) in enumerate(records):
        waiting[upstream] += parts_of(number, count)
    found: list[int] = []
    while any(waiting.values()):
        upstream = random.choice([one for one in waiting if waiting[one]])  # type: ignore[attr-defined]
        select(core, 0, upstream)
        for effect in take(core, waiting[upstream].pop(0)):
            assert isinstance(effect, recovered_input.ProcessRecord)
            found.append(effect.record)
    assert sorted(found) == list(range(len(records)))
    for upstream in waiting:
        own = [number for number, (up, _) in enumerate(records) if up == upstream]
        assert [number for number in found if number in own] == own


def test_bytes_of_two_records_do_not_make_one() -> None:
    """A part that does not go on from the one before is reported, and both are gone."""
    one = RecordDeserializer()
    assert one.add(RecordPart(1, 0, 2)) is None
    assert one.add(RecordPart(2, 1, 2)) == Broken(RecordPart(1, 0, 2), RecordPart(2, 1, 2))
    assert one.partial == []
    assert one.add(RecordPart(3, 1, 3)) == Broken(None, RecordPart(3, 1, 3))
    assert one.add(RecordPart(4, 0, 1)) == 4
