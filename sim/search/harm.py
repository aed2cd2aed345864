"""From a broken rule to the harm that it does: the same run with a failure after the violation.

A core that acknowledges too early loses nothing while everything goes well.  So where a run shows
no harm, a crash is tried at a few instants after its first violation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from typing import Any

from ckptsim.scenarios import LINKS, Scenario, ScenarioError
from ckptsim.scenarios.files import document
from ckptsim.scenarios.job import Job, VertexKind
from ckptsim.scenarios.job.faults import CrashTask
from ckptsim.scenarios.severity import Severity, severity_of
from ckptsim.sim.search.trial import Subject, Trial, trial
from ckptsim.sim.story import time_of

# Assumption: a failure that turns a violation into harm follows it within so many instants.
_INSTANTS = 8
# A run of more events gets no failure after it: it would take too long.
_EVENTS_MAX = 100_000


def with_harm(subject: Subject, found: Trial, name: str) -> tuple[Subject, Trial, str]:
    """Return subject, trial and property with a crash that turns a broken rule into harm.

    Where none does, they are returned as they are; name: the property that the trial violates.

    The harm is the core's: with ours in its place the same crash does none.
    """
    ours = replace(subject, cores={}, mutant=None)
    is_ours = not subject.cores and subject.mutant is None
    if is_ours or not found.violations or _harm(found, subject) or found.events > _EVENTS_MAX:
        return subject, found, name
    make = _crash_of(subject.scenario)
    begin_ns = min(row.at_ns for row in found.violations)
    trace = subject.run(found.seed, found.ties, keep_trace=True).trace
    later = dict.fromkeys(time_of(entry) for entry in trace if time_of(entry) >= begin_ns)
    for at_ns in islice(later, _INSTANTS) if make is not None else ():
        assert make is not None
        fault = make(at_ns + 1)
        scenario = replace(subject.scenario, faults=(*subject.scenario.faults, fault))
        try:
            document.read(document.plain(scenario), source="a crash after a violation")
        except ScenarioError:
            return subject, found, name
        here = replace(subject, scenario=scenario)
        got = trial(here, found.seed, found.ties)
        harm = _harm(got, subject)
        if harm and not _violates(replace(ours, scenario=scenario), found, harm):
            return here, got, harm
    return subject, found, name


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
