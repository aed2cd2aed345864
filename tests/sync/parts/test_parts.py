"""The small parts of a sync: memory, resources, plans of feeds, ids, the platform, intervals."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ckptsim.scenarios.sync import PlatformTable
from ckptsim.sim.kernel import Environment
from ckptsim.sim.sync.destination.uploads import StateMemory
from ckptsim.sim.sync.intervals import IntervalSet, shown, size
from ckptsim.sim.sync.oracle.truth import Feed
from ckptsim.sim.sync.socket import Socket
from ckptsim.sim.sync.source.rounds import Resources
from ckptsim.sim.sync.source.states import FeedPlan
from ckptsim.sim.sync.world import Platform
from ckptsim.sim.world import run_world
from tests.sync.parts.test_socket import SLOW
from tests.sync.support import changed, library

FEED = Feed(index=0, name="users", stream=0, total=100, partition_records=30)


def test_memory_goes_to_the_one_who_waits_longest() -> None:
    """Everything that is freed serves the waiting in their order, and no one overtakes them."""
    env = Environment()
    memory = StateMemory(env, 100)
    assert memory.reserve(80)
    assert not memory.reserve(30)
    first, second = memory.wait(30, "a"), memory.wait(10, "b")
    assert not memory.reserve(5)
    assert memory.waiting == ["a", "b"]
    memory.free(80)
    assert (first.triggered, second.triggered) == (True, True)
    assert memory.used_bytes == 40


def test_state_larger_than_the_memory_is_taken_alone() -> None:
    """A state that can never fit does not stop the sync."""
    memory = StateMemory(Environment(), 100)
    assert memory.reserve(500)
    assert not memory.reserve(1)


def test_resources_are_given_in_the_order_of_asking() -> None:
    """A socket that becomes free goes to the first who asked, with a connection."""
    env = Environment()
    sockets = [Socket(env, SLOW, index) for index in range(2)]
    resources = Resources(env, sockets, connections=3, shared=False)
    first, second = resources.try_acquire(), resources.try_acquire()
    assert (first, second) == (sockets[0], sockets[1])
    assert resources.try_acquire() is None
    early, late = resources.wait(), resources.wait()
    resources.release(sockets[1])
    assert early.value is sockets[1]
    assert not late.triggered


def test_connections_limit_readers_of_one_channel() -> None:
    """On STDIO all readers share the channel, and only connections are scarce."""
    env = Environment()
    channel = Socket(env, SLOW, 0)
    resources = Resources(env, [channel], connections=2, shared=True)
    assert [resources.try_acquire() for _ in range(3)] == [channel, channel, None]


def test_plan_reads_what_is_not_claimed() -> None:
    """A restarted feed reads the gaps of what it resumes from, in partitions of its size."""
    plan = FeedPlan(FEED, None, ((0, 20), (40, 90)))
    cut = [(p.low, p.high) for p in plan.next_round(4)]
    assert cut == [(20, 40), (90, 100)]
    assert plan.next_round(4) == []


@given(st.lists(st.tuples(st.integers(0, 100), st.integers(0, 100)), max_size=4), st.data())
def test_rounds_with_cuts_read_every_record_once(
    base: list[tuple[int, int]], data: st.DataObject
) -> None:
    """Whatever is resumed from and wherever readers are cut off, nothing is missed or repeated."""
    claimed = IntervalSet(base)
    plan = FeedPlan(FEED, None, claimed.intervals())
    read: list[int] = []
    for _ in range(200):
        partitions = plan.next_round(3)
        if not partitions:
            break
        for partition in partitions:
            if data.draw(st.booleans()):
                at = data.draw(st.integers(partition.low + 1, partition.high))
                plan.cut(partition, at)
            token = plan.new_token(partition)
            partition.produced = partition.high - partition.low
            assert plan.absorb(token) == (partition, ())
            assert plan.absorb(token) is None
            read += range(partition.low, partition.high)
            claimed.add(partition.low, partition.high)
            assert plan.claims(token) == claimed.intervals()
    assert len(read) == len(set(read))
    assert claimed.covers(0, 100)


@pytest.mark.parametrize(
    ("attempts", "expected"),
    [
        ("eeeee", [10, 30, 90, 270, None]),
        ("eepee", [10, 30, 0, 10, 30]),
        ("epeeee", [10, 0, 10, 30, 90, 270]),
        ("p" * 20, [0] * 19 + [None]),
        ("eep" * 5, [10, 30, 0] * 4 + [10, None]),
    ],
)
def test_platform_backs_off_and_gives_up_by_its_rules(
    attempts: str, expected: list[int | None]
) -> None:
    """Five attempts without data in a row, ten in all or twenty with some. Data resets the wait."""
    platform = Platform(Environment(), PlatformTable(), 1)
    waits: list[int | None] = []
    for kind in attempts:
        if waits and waits[-1] is None:
            break
        platform.got_data = kind == "p"
        wait_ns = platform.judge()
        waits.append(None if wait_ns is None else wait_ns // 1_000_000_000)
    assert waits == expected


def test_state_that_the_platform_refuses_is_no_resume_point() -> None:
    """A restart reads again what a refused state claimed. Nothing is lost by it."""
    compares = changed(library("stdio_sync"), "platform.count_check", "reject")
    results = [run_world(compares, seed=seed) for seed in range(5)]
    assert all(result.violations == [] for result in results)
    assert any(result.goals["state_rejected"] for result in results)
    assert any(row.records_reprocessed for result in results for row in result.recoveries)


PAIRS = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), max_size=12)


def _plain(pairs: list[tuple[int, int]]) -> set[int]:
    return {position for low, high in pairs for position in range(low, high)}


@given(PAIRS, st.integers(0, 40), st.integers(0, 40))
def test_interval_set_agrees_with_a_set_of_positions(
    pairs: list[tuple[int, int]], low: int, high: int
) -> None:
    """Membership, gaps and counts are the ones of a plain set, in whatever order intervals came."""
    plain = _plain(pairs)
    kept = IntervalSet(pairs)
    assert _plain(list(kept.intervals())) == plain
    assert kept.count() == size(kept.intervals()) == len(plain)
    assert kept.covers(low, high) == set(range(low, high)).issubset(plain)
    assert _plain(list(kept.missing(low, high))) == set(range(low, high)) - plain


@given(PAIRS)
def test_intervals_are_disjoint_and_not_adjacent(pairs: list[tuple[int, int]]) -> None:
    """The normal form is unique: ascending, with a gap between any two intervals."""
    flat = [bound for pair in IntervalSet(pairs).intervals() for bound in pair]
    assert flat == sorted(set(flat))


def test_positions_are_shown_with_both_ends_included() -> None:
    """A person reads the positions that are meant, not half-open bounds."""
    assert shown(((0, 50), (100, 101))) == "0-49, 100-100"
    assert shown(()) == "none"
