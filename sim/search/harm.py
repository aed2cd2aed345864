"""From a broken rule to the harm that it does: the same run with a failure after the violation.

A core that acknowledges too early loses nothing while everything goes well.  So where a run shows
no harm, a crash is tried right after what happens after its first violation: triggers, barriers,
acknowledgements, completions, commits, restores.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice, zip_longest
from typing import Any

from ckptsim.scenarios import LINKS, Scenario, ScenarioError
from ckptsim.scenarios.files import document
from ckptsim.scenarios.job import Job, VertexKind
from ckptsim.scenarios.job.faults import CrashTask
from ckptsim.scenarios.severity import Severity, severity_of
from ckptsim.sim.kernel import Entry
from ckptsim.sim.search.trial import Subject, Trial, trial
from ckptsim.sim.story import time_of

# So many crashes are tried, and no more when the runs with them have had so many events: a second
# or two.  Assumptions.
_TRIES = 12
_EVENTS_MAX = 100_000


def with_harm(subject: Subject, found: Trial, name: str) -> tuple[Subject, Trial, str]:
    """Return subject, trial and property with a crash that turns a broken rule into harm.

    Where none does, they are returned as they are. name: the property that the trial violates.

    The harm is the core's: with ours in its place the same crash does none.
    """
    crash = _crash_of(subject.scenario)
    if subject.is_ours or not found.violations or _harm(found, subject):
        return subject, found, name
    if crash is None or found.events > _EVENTS_MAX:
        return subject, found, name
    begin_ns = min(row.at_ns for row in found.violations)
    left = _EVENTS_MAX
    trace = subject.run(found.seed, found.ties, keep_trace=True).trace
    for at_ns in islice(_instants(trace, begin_ns), _TRIES):
        if left <= 0:
            break
        fault = crash(at_ns + 1)
        scenario = replace(subject.scenario, faults=(*subject.scenario.faults, fault))
        try:
            document.read(document.plain(scenario), source="a crash after a violation")
        except ScenarioError:
            return subject, found, name
        here = replace(subject, scenario=scenario)
        got = trial(here, found.seed, found.ties)
        left -= got.events
        harm = _harm(got, subject)
        if harm and not _violates(here.with_ours, found, harm):
            return here, got, harm
    return subject, found, name


def _instants(trace: Sequence[Entry], begin_ns: int) -> Iterator[int]:
    """Yield the instants from one on at which something happens, the first of each kind first.

    Of a kind that is common many instants are close together, and a crash at each does the same.
    """
    kinds: dict[str, dict[int, None]] = {}
    for entry in trace:
        if time_of(entry) >= begin_ns:
            kinds.setdefault(str(entry[1]), {})[time_of(entry)] = None
    given: dict[int, None] = {}
    for row in zip_longest(*kinds.values()):
        fresh = sorted({at_ns for at_ns in row if at_ns is not None} - given.keys())
        given.update(dict.fromkeys(fresh))
        yield from fresh


def _harm(found: Trial, subject: Subject) -> str | None:
    """Return the first harm of a run that is not expected, None without any."""
    for row in found.violations:
        expected = row.property in subject.scenario.violates
        if severity_of(row.property) is Severity.DATA and not expected:
            return row.property
    return None


def _violates(subject: Subject, found: Trial, name: str) -> bool:
    again = trial(subject, found.seed, found.ties)
    return any(row.property == name for row in again.violations)


def _crash_of(scenario: Scenario) -> Callable[[int], Any] | None:
    """Return what makes a crash at an instant, None where a link has no such fault."""
    model = scenario.model
    if isinstance(model, Job):
        sinks = [vertex.name for vertex in model.vertices if vertex.kind is VertexKind.SINK]
        if not sinks:
            return None
        return lambda at_ns: CrashTask(vertex=sinks[-1], subtask=0, at_ns=at_ns)
    # Of the destination of a sync, of the process of a store.
    crash = LINKS[scenario.link].faults.get("crash_at")
    return None if crash is None else lambda at_ns: crash(at_ns=at_ns)
