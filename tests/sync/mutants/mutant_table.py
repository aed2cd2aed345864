"""The table of mutants: on which scenario each is distinguished from the right core."""

from __future__ import annotations

from collections import Counter

from ckptsim.scenarios.catalogue import by_name
from ckptsim.sim.world import run_world
from tests import kills
from tests.sync.support import changed

# The mutant's scenario of the library.
SCENARIO_OF: dict[str, str] = {
    "no_ordering": "reference",
    "gaps_tolerated": "t01_state_before_records",
    "arrival_order": "t01_state_before_records",
    "lexicographic_order": "t05_states_at_one_position",
    "no_source_count": "t01_state_before_records",
    "at_least": "t12_unflushed_states",
    "rejects_ignored": "t09_rejected_records",
    "levels_added": "b09_levels_differ",
    "no_local_check": "t08_interleaved_stdio",
    "cursor_before_send": "b01_send_fails",
    "totals_before_send": "b01_send_fails",
    "kinds_mixed": "kinds_mixed",
    "one_counter": "t08_interleaved_stdio",
    "early_return": "b02_mismatch_starves_others",
    "flush_dropped": "t03_flush_during_flush",
    "removed_before_send": "b05_send_fails_after_removal",
    "message_replaced": "b03_index_used_twice",
    "stale_accepted": "b04_stale_index",
}

# What this one lacks shows only on a line that delivers after its own end, which no socket does.
SHOWN_BY_CORE = {"complete_after_close"}

# Public design and scenario -> the property that breaks most often. None where it does well.  The
# destination reports the persisted data, the one level that all these designs look at.
PUBLIC: dict[tuple[str, str], str | None] = {
    ("upstream", "quickstart"): None,
    ("upstream", "t16_concurrent_stdio"): None,
    ("upstream", "b01_send_fails"): "every_state_is_released",
    ("upstream", "b02_mismatch_starves_others"): "every_state_is_released",
    ("upstream", "b03_index_used_twice"): "released_states_are_unchanged",
    ("pr60886", "t01_state_before_records"): "no_premature_acknowledgement",
    ("dataflow", "quickstart"): None,
    ("dataflow", "b08_ids_collide_across_streams"): None,
    ("dataflow", "b05_send_fails_after_removal"): "releases_without_gaps",
    ("dataflow", "b07_same_key_twice"): "every_state_is_released",
    ("dataflow", "t09_rejected_records"): "every_state_is_released",
    ("dataflow", "t16_concurrent_stdio"): "no_premature_acknowledgement",
    ("unscoped", "b08_ids_collide_across_streams"): "no_premature_acknowledgement",
}
PUBLIC_SEEDS = 20


def violated(mutant: str, scenario: str, seed: int) -> str | None:
    """Return the property that a mutant breaks on a scenario under a seed and random ties."""
    subject = by_name(scenario)
    rows = run_world(subject, seed=seed, ties="random", mutant=mutant).violations
    return next((row.property for row in rows if row.property not in subject.violates), None)


def first(mutant: str) -> tuple[int, str] | None:
    """Return the first seed that shows a mutant on its scenario, with the property it breaks."""
    return kills.first(violated, mutant, SCENARIO_OF[mutant])


def broken(design: str, scenario: str) -> Counter[str]:
    """Return of how many of PUBLIC_SEEDS seeds a property is the worst that a design breaks."""
    persisted = changed(by_name(scenario), "destination.levels", "persisted")
    return Counter(
        row.property
        for seed in range(PUBLIC_SEEDS)
        for row in run_world(persisted, seed=seed, ties="random", mutant=design).violations[:1]
    )
