"""Restart strategies of random jobs."""

from __future__ import annotations

from typing import Any

from ckptsim.scenarios.generators.choices import Choices

_MS = 1_000_000


def restart_strategy(choices: Choices, fixed: dict[str, Any]) -> dict[str, Any]:
    """Return a fixed delay as it is, or another strategy with that delay and about its bound."""
    kind = choices.of(("fixed_delay", "fixed_delay", "exponential_delay", "failure_rate"))
    bound = {"attempts": fixed["attempts"]} if fixed.get("attempts") else {}
    if kind == "exponential_delay":
        grows = {"initial_backoff_ns": max(1, fixed["delay_ns"]), "max_backoff_ns": 100 * _MS}
        # Where restarts have a bound, a delay that is reset begins to count them anew.
        reset = () if bound else ({"reset_backoff_threshold_ns": 30 * _MS},)
        by_chance = ({"jitter_factor": 0.0}, {"jitter_factor": 0.5})
        more: dict[str, Any] = choices.of(({}, {"backoff_multiplier": 3.0}, *by_chance, *reset))
        return {"kind": kind} | grows | bound | more
    if kind == "failure_rate":
        most = bound.get("attempts") or choices.integer(1, 3)
        interval_ns = choices.of((1_000, 50)) * _MS
        rate = {"max_failures_per_interval": most, "interval_ns": interval_ns}
        return {"kind": kind, "delay_ns": fixed["delay_ns"]} | rate
    return fixed
