"""The verdict on the end of a run around a scenario, and the work after which it is cut short.

With other times and more faults a right job may go on for as long as its longest retry.  So a run
that takes many times the work of the scenario itself is cut short, and all else is judged by
what happened until then.  That a run has not ended well is a violation only where it can be:

* the same numbers without faults let our own cores end well, and so do the same faults.
* of a run that was cut, ours took only a share of its work and time, and the effects of faults are
  over.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ckptsim.scenarios import Scenario
from ckptsim.scenarios.dialect import duration_text
from ckptsim.scenarios.generators.faults import durations
from ckptsim.scenarios.severity import ENDS
from ckptsim.sim.rows import ViolationRow
from ckptsim.sim.run_spec import CUT, CUTS
from ckptsim.sim.search.faults import rehearse
from ckptsim.sim.search.trial import Subject, Trial

RUN_ENDS = "a_run_ends"
# So many steps a run around a scenario has at least, and so many times the ones of the scenario.
# Assumptions: a run of the first takes a fraction of a second, and two doublings need the second.
_STEPS_MIN = 10_000
_STEPS_TIMES = 4
# So many times the work and the time of ours a run has to have had. An assumption.
_ENOUGH = 4
_ON_ITS_END = (*ENDS, RUN_ENDS)

Run = Callable[[Subject], Trial]
"""Runs a subject under the seed and ties of the run that is judged."""


def steps_of(scenario: Scenario) -> int:
    """Return after how many steps a run around a scenario is cut short."""
    return max(_STEPS_MIN, _STEPS_TIMES * rehearse(scenario).events)


def judged(subject: Subject, found: Trial, run: Run) -> Trial:
    """Return the trial without what may be wrong at its end, and with everything that is."""
    foreign, ours = not subject.is_ours, subject.with_ours
    rows = found.violations
    if found.outcome in CUTS:
        says = _too_long(found, run(ours), subject) if foreign else None
        rows += () if says is None else (end_row(says),)
    elif any(row.property in _ON_ITS_END for row in rows):
        faultless = replace(ours, scenario=replace(subject.scenario, faults=()))
        if not all(_ends_well(run(each)) for each in [faultless, *[ours] * foreign]):
            rows = tuple(row for row in rows if row.property not in _ON_ITS_END)
    return replace(found, violations=rows)


def end_row(says: str) -> ViolationRow:
    """Return the violation of a run that does not end."""
    return ViolationRow(run_key="", property=RUN_ENDS, at_ns=0, says=says, story="", replay="")


def _ends_well(found: Trial) -> bool:
    broken = any(row.property in _ON_ITS_END for row in found.violations)
    return not broken and found.outcome not in CUTS


def _too_long(found: Trial, ours: Trial, subject: Subject) -> str | None:
    """Say that a run that was cut has gone on for too long. None where that is not known."""
    if not _ends_well(ours) or found.events < _ENOUGH * ours.events:
        return None
    least_ns = _ENOUGH * ours.ended_ns
    if subject.scenario.faults:  # each may make parts wait for the longest that there is
        last_ns = max(getattr(each, "at_ns", 0) for each in subject.scenario.faults)
        least_ns += last_ns + max(durations(subject.scenario))
    if found.outcome == CUT and found.ended_ns < least_ns:
        return None
    return (
        f"the run has not ended after {found.events:,} steps, at {duration_text(found.ended_ns)}; "
        f"with our cores it ends after {ours.events:,}, at {duration_text(ours.ended_ns)}"
    )
