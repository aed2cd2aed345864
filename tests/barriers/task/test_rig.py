"""Random feasible lives of one task: every element is in each checkpoint exactly once."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ckptsim.models.barriers.handler import HandlerKind
from tests.barriers.task.account import Counts
from tests.barriers.task.rig import Rig
from tests.barriers.task.script import SCRIPTS, VERBS, Step, play


@pytest.mark.parametrize("kind", list(HandlerKind))
@settings(max_examples=400)
@given(script=SCRIPTS, shape=st.sampled_from([(1, 1), (2, 1), (3, 1), (4, 1), (2, 2), (4, 2)]))
def test_random_lives_keep_every_rule(
    kind: HandlerKind, script: list[Step], shape: tuple[int, int]
) -> None:
    """Exactly once per element, order, freeing of channels, at most one trigger and abort."""
    channels, gates = shape
    play(Rig(kind, channels, gates=gates), script)


def test_the_interesting_situations_are_reached() -> None:
    """A fixed set of lives reaches each situation that the rules are about."""
    total = Counts()
    draw = random.Random(5)
    for _ in range(1500):
        script = [(draw.choice(VERBS), draw.randrange(3), draw.randrange(13)) for _ in range(80)]
        counts = play(Rig(HandlerKind.ALTERNATING, 3), script).counts
        for name in Counts.__slots__:
            setattr(total, name, getattr(total, name) + getattr(counts, name))
    for name in Counts.__slots__:
        assert getattr(total, name) > 20, name
