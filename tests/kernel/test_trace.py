"""The trace and its digest: exact, injective, and blind to how it is cut into batches."""

from __future__ import annotations

from enum import IntEnum

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ckptsim.sim.kernel import Environment, Trace, TraceError

FIELDS = st.one_of(st.integers(), st.text(), st.booleans(), st.none())
ENTRIES = st.lists(st.tuples(st.text(), st.lists(FIELDS, max_size=4)), max_size=6)


class _State(IntEnum):
    OPEN = 1


def _trace(entries, *, keep: bool = False) -> Trace:
    env = Environment(keep_trace=keep)
    for kind, fields in entries:
        env.trace.record(kind, env.entity("actor"), *fields)
    return env.trace


def _typed(entries):
    return [(kind, [(type(f), f) for f in fields]) for kind, fields in entries]


@given(ENTRIES, ENTRIES)
def test_equal_traces_and_only_they_have_equal_digests(left, right):
    """No two different lists of entries have one encoding: 1 is not "1" and not True."""
    same = _trace(left).digest() == _trace(right).digest()
    assert same == (_typed(left) == _typed(right))


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ([("k", [1])], [("k", ["1"])]),
        ([("k", [1])], [("k", [True])]),
        ([("k", [None])], [("k", ["null"])]),
        ([("k", ["a", "b"])], [("k", ["a,b"])]),
        ([("k", ["a"]), ("k", ["b"])], [("k", ["a", "k", "b"])]),
        ([("k", ['"],["'])], [("k", ["", ""])]),
    ],
)
def test_lookalikes_differ(left, right):
    """Entries that would look alike in a careless encoding have different digests."""
    assert _trace(left).digest() != _trace(right).digest()


def test_batches_and_early_digests_do_not_show():
    """Asking for the digest in between, or keeping the entries, changes nothing."""
    entries = [("k", [number, str(number)]) for number in range(1000)]
    plain = _trace(entries).digest()
    kept = _trace(entries, keep=True)
    assert kept.digest() == plain
    assert [entry[3] for entry in kept.entries] == list(range(1000))
    env = Environment()
    for number in range(1000):
        env.trace.record("k", env.entity("actor"), number, str(number))
        env.trace.digest()
    assert env.trace.digest() == plain
    assert env.trace.count == 1000


def test_the_digest_is_pinned():
    """One digest is written down, so that no Python and no machine may give another."""
    entries = [("sent", [3, "\u00e4\ud800", None, False]), ("got", [_State.OPEN, -(2**70)])]
    assert _trace(entries).digest() == "46c29f319ee2246fff4ca757891c918d"


@pytest.mark.parametrize("field", [1.5, np.int64(1), np.float64(1), b"x", (1,), object()])
def test_what_has_no_exact_text_is_refused(field):
    """Floats, numpy numbers and objects are refused, at the latest with the digest."""
    trace = _trace([("k", [1, field])])
    with pytest.raises(TraceError, match="expected int, str, bool or None"):
        trace.digest()


def test_goals_are_counted_from_zero():
    """Declared situations count from zero, others from when they are first reached."""
    goals = Environment(goals=("full", "empty")).goals
    goals.reach("full")
    goals.reach("late")
    goals.reach("full")
    assert goals.counts == {"full": 2, "empty": 0, "late": 1}
    assert goals.missing() == ["empty"]
