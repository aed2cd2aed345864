"""What a receiver's channel has under a sequence number, data included, when it is asked for it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ckptsim.models.barriers import RemoteInputChannel
from ckptsim.models.barriers.barrier import Barrier, CancellationMarker, OptionKind
from ckptsim.models.barriers.channels import NetworkEffect, PersistInput
from ckptsim.models.core import ProtocolError

TIMED = Barrier(1, 0, OptionKind.TIMEOUTABLE, 10)


def receiver(*elements: object) -> tuple[RemoteInputChannel, list[NetworkEffect]]:
    """Return a channel at which these elements have arrived, and its outbox."""
    outbox: list[NetworkEffect] = []
    channel = RemoteInputChannel(0, outbox)
    for element in elements:
        channel.arrive(element)
    return channel, outbox


@pytest.mark.parametrize(("aimed", "state"), [(1, "b"), (2, "a"), (4, "ab"), (5, "ab")])
def test_data_in_a_barriers_place_leaves_the_queue(aimed: int, state: str) -> None:
    """The error says so, and the rest of the data before the barrier becomes state.

    Source: recorded from Apache Flink 1.20.3, RemoteInputChannel.convertToPriorityEvent.
    """
    channel, outbox = receiver(CancellationMarker(0), "a", "b", TIMED, "c", "d")
    with pytest.raises(ProtocolError, match="data stands there"):
        channel.prioritize(aimed)
    assert channel.data_count == 3
    with pytest.raises(ProtocolError, match="no_such_element"):
        channel.prioritize(aimed)
    channel.start(1)
    assert outbox == [PersistInput(0, 1, tuple(state))]


@settings(max_examples=300)
@given(
    script=st.lists(st.sampled_from(["data", "event", "unaligned", "poll"]), max_size=30),
    draw=st.data(),
)
def test_every_number_finds_the_element_that_had_it(script: list[str], draw: st.DataObject) -> None:
    """Whatever overtook, was taken or was removed before: exactly the element asked for leaves."""
    channel, _ = receiver()
    queued: dict[int, object] = {}  # number -> element of the normal section
    arrived = 0
    for step in ["unaligned", *script]:
        match step:
            case "data":
                channel.arrive(f"data {arrived}")
                queued[arrived] = f"data {arrived}"
            case "event":
                channel.arrive(CancellationMarker(arrived))
                queued[arrived] = CancellationMarker(arrived)
            case "unaligned":
                channel.arrive(Barrier(arrived + 1, 0, OptionKind.UNALIGNED))
                channel.poll()
            case _:
                assert channel.poll() == (queued.pop(min(queued)) if queued else None)
        arrived += step != "poll"
    for asked in draw.draw(st.permutations(range(arrived + 1))):
        kind = "illegal_state" if asked in queued else "no_such_element"
        with pytest.raises(ProtocolError, match=kind):
            channel.prioritize(asked)
        queued.pop(asked, None)
        assert [element for element, _ in channel.normal_elements()] == list(queued.values())
