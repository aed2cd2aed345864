"""Goals: rare situations are counted, and those never reached are named."""

from __future__ import annotations

from ckptsim.sim.kernel import Environment


def test_goals_are_counted_from_zero():
    """Declared situations count from zero, others from when they are first reached."""
    goals = Environment(goals=("full", "empty")).goals
    goals.reach("full")
    goals.reach("late")
    goals.reach("full")
    assert goals.counts == {"full": 2, "empty": 0, "late": 1}
    assert goals.missing() == ["empty"]
