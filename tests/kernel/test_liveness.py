"""Who waits for whom: the sentence names the circle or the chain, whatever the order of input."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ckptsim.sim.kernel import Environment, SimulationStalled, Wait, explain_waits, settle


def test_a_chain_is_told_from_its_far_end():
    """The longest chain is reported, and what else waits is counted."""
    waits = [
        Wait("state users/3", "records of its id", "upload 7"),
        Wait("upload 7", "a free slot", "storage"),
        Wait("sync", "state users/3", "state users/3"),
        Wait("reader 2", "room", "socket 1"),
    ]
    assert explain_waits(waits) == (
        "sync waits for state users/3 from state users/3, which waits for records of its id from "
        "upload 7, which waits for a free slot from storage; storage itself waits for "
        "nothing, and does not act (1 more waits besides)."
    )


def test_a_circle_is_named_as_one():
    """A deadlock is reported as a circle, even when longer chains lead into it."""
    waits = [
        Wait("x", "y's turn", "y"),
        Wait("y", "a's turn", "a"),
        Wait("a", "room", "b"),
        Wait("b", "credit", "a"),
    ]
    assert explain_waits(waits) == (
        "a waits for room from b, which waits for credit from a: they wait for each other in a "
        "circle."
    )


def test_nobody_in_particular():
    """A wait for no one ends its chain without a name."""
    assert explain_waits([Wait("sync", "the heartbeat")]) == "sync waits for the heartbeat."
    assert explain_waits([]) == "Nothing waits."


@given(
    st.lists(st.builds(Wait, st.sampled_from("abcd"), st.just("it"), st.sampled_from("abcd"))),
    st.randoms(),
)
def test_the_order_of_the_waits_does_not_matter(waits, random):
    """Any order of the same waits gives the same sentence."""
    shuffled = list(waits)
    random.shuffle(shuffled)
    assert explain_waits(shuffled) == explain_waits(waits)


def test_a_long_chain_is_no_problem():
    """Chains longer than the recursion limit are reported as well."""
    waits = [Wait(f"{n:05}", "the next", f"{n + 1:05}") for n in range(5000)]
    assert explain_waits(waits).startswith("00000 waits for the next from 00001")


def test_settle_runs_until_nothing_is_pending():
    """The liveness phase ends as soon as the work is done, and not later."""
    env = Environment()
    done: list[int] = []
    for time in (5, 9, 30):
        env.call_at(time, 0, env.entity("actor"), done.append, time)
    settle(env, pending=lambda: len(done) < 2, waits=list, bound_ns=100)
    assert (done, env.now) == ([5, 9], 9)


@pytest.mark.parametrize(("bound_ns", "says"), [(20, "2e-05 ms"), (50, "nothing is scheduled")])
def test_settle_explains_a_stall(bound_ns, says):
    """Work that is never done raises with the reason and the sentence."""
    env = Environment()
    env.call_at(30, 0, env.entity("actor"), int)
    waits = (Wait("sync", "a record", "reader"),)
    with pytest.raises(SimulationStalled, match=says) as caught:
        settle(env, pending=lambda: True, waits=lambda: waits, bound_ns=bound_ns)
    assert "sync waits for a record from reader" in str(caught.value)
    assert caught.value.waits == waits
