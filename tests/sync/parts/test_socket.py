"""The line between source and destination: bandwidth, latency, room, order and account."""

from collections.abc import Generator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ckptsim.scenarios.sync import SocketTable
from ckptsim.sim.kernel import ConservationError, Environment, parse_ties
from ckptsim.sim.sync.socket import CompleteMessage, EndMessage, Socket

SLOW = SocketTable(count=1, bandwidth_bytes_per_s=1_000_000, latency_ns=500, pipe_bytes=1000)


def _reader(
    env: Environment, socket: Socket, seen: list[tuple[int, int]], rest_ns: int
) -> Generator[Any, Any, None]:
    while True:
        message = socket.take()
        if message is None:
            yield socket.arrival()
            continue
        assert isinstance(message, CompleteMessage)
        seen.append((env.now, message.stream))
        yield env.timeout(rest_ns)


def test_message_travels_for_its_size_and_the_latency() -> None:
    """400 bytes at 1 MB/s take 400 us. Two in a row share the line, the latency overlaps."""
    env = Environment()
    socket = Socket(env, SLOW, 0)
    seen: list[tuple[int, int]] = []
    env.process(_reader(env, socket, seen, 0))
    assert socket.put([CompleteMessage(1, 400), CompleteMessage(2, 400)]) is None
    env.run()
    assert seen == [(400_500, 1), (800_500, 2)]


def test_writer_waits_for_room_in_the_pipe() -> None:
    """A third message waits until the reader has taken the first."""
    env = Environment()
    socket = Socket(env, SLOW, 0)
    seen: list[tuple[int, int]] = []
    env.process(_reader(env, socket, seen, 5_000_000))
    accepted = socket.put([CompleteMessage(n, 400) for n in range(3)])
    assert accepted is not None
    env.run_until(400_499)
    assert not accepted.triggered
    env.run_until(400_500)
    assert accepted.triggered
    env.run()
    assert [stream for _, stream in seen] == [0, 1, 2]


def test_message_larger_than_the_pipe_goes_alone() -> None:
    """What can never fit is not stuck for ever."""
    env = Environment()
    socket = Socket(env, SLOW, 0)
    seen: list[tuple[int, int]] = []
    env.process(_reader(env, socket, seen, 0))
    socket.put([CompleteMessage(1, 10), CompleteMessage(2, 5000), CompleteMessage(3, 10)])
    env.run()
    assert [stream for _, stream in seen] == [1, 2, 3]


def test_stalled_socket_delivers_everything_afterwards_in_order() -> None:
    """A stall delays. It loses and reorders nothing, under any tie policy."""
    for policy in ("structural", "random", "pct"):
        env = Environment(7, parse_ties(policy, 7))
        socket = Socket(env, SLOW, 0)
        seen: list[tuple[int, int]] = []
        env.process(_reader(env, socket, seen, 0))
        socket.put([CompleteMessage(n, 100) for n in range(5)])
        socket.stall(300_000)
        env.run()
        assert [stream for _, stream in seen] == [0, 1, 2, 3, 4]
        assert [at for at, _ in seen[:2]] == [300_000, 300_000]


@given(
    st.lists(st.lists(st.integers(1, 2000), min_size=1, max_size=4), max_size=6),
    st.integers(0, 3_000_000),
)
def test_account_holds_whenever_the_socket_breaks(sizes: list[list[int]], at_ns: int) -> None:
    """Put = taken + dropped + queued at every instant, and the end still comes through."""
    env = Environment()
    socket = Socket(env, SLOW, 0)
    seen: list[tuple[int, int]] = []
    process = env.process(_reader(env, socket, seen, 100_000))
    for number, batch in enumerate(sizes):
        socket.put([CompleteMessage(number, size) for size in batch])
        socket.check()
    env.run_until(at_ns)
    socket.check()
    process.stop()
    socket.break_off(EndMessage())
    socket.check()
    left = list(socket.unread)
    assert isinstance(left[-1], EndMessage)
    socket.drop_all()
    socket.check()
    assert socket.queued_count == 0


def test_lost_message_is_noticed() -> None:
    """The account is an account: one message that vanishes raises."""
    env = Environment()
    socket = Socket(env, SLOW, 0)
    socket.put([CompleteMessage(1, 10)])
    socket.put_count += 1
    with pytest.raises(ConservationError, match="2 messages were put"):
        socket.check()
