"""Why runs break a property, and why checkpoints are slow or fail over many runs."""

from __future__ import annotations

from collections.abc import Iterator

from ckptsim.scenarios.dialect import duration_text
from ckptsim.scenarios.job import Job
from ckptsim.sim.rows import ViolationRow
from ckptsim.sim.search.check import CheckReport
from ckptsim.sim.search.folder import Kept
from ckptsim.sim.search.stories import LAST_GOOD, THEN_HERE, stories
from ckptsim.sim.search.trial import Subject, Trial
from ckptsim.sim.why.answer import Why
from ckptsim.sim.why.observed import is_traced_at_ease
from ckptsim.sim.why.why import why_of

_LED_TO_IT = 2
_FAILED_MAX = 3  # kinds of failures that are explained: each takes one more run


def why_find(kept: Kept) -> Why:
    """Run what a find's folder repeats once more, and return what broke and what led to it."""
    subject = kept.subject
    result = subject.run(kept.seed, kept.ties, keep_trace=True)
    row = next((one for one in result.violations if one.property == kept.property), None)
    if row is None:
        return Why(happened=f"{kept.property} holds: scenario, program or core have changed.")
    result.violations = [row]
    [row] = stories(subject, result)
    return why_violation(row, f"ckptsim replay {subject.source}")


def why_violation(row: ViolationRow, replay: str) -> Why:
    """Return why a property does not hold, as the story of its violation says it.

    The cause is the first event that a run does otherwise in which the property holds. Without such
    a run it is what happened last.  replay: the command that repeats it.
    """
    of = "" if row.index is None else f" at {row.scope or 'checkpoint'}/{row.index}"
    happened = f"{row.property} does not hold{of}, at {duration_text(row.at_ns)}: {row.says}."
    lines = [" ".join(line.split()) for line in row.story.splitlines() if line.strip()]
    heads = [line.partition(":")[0] for line in lines]
    ours = next((line for line in lines if line.startswith("first difference")), "")
    if THEN_HERE in heads and LAST_GOOD in heads:
        at = heads.index(THEN_HERE)
        here, other = lines[at].removeprefix(f"{THEN_HERE}: "), lines[at + 1]
        because = f"Where it begins: {here}; {other}."
    else:
        led = [line for line in lines if line != ours and row.property not in line][-_LED_TO_IT:]
        because = "Before: " + "; ".join(led) + "." if led else ""
    return Why(happened=happened, because=because, there=ours, note=f"Repeat it: {replay}")


def why_checked(subject: Subject, report: CheckReport) -> Iterator[tuple[Trial, Why]]:
    """Yield the cause of what a check has found, with its run.

    That is the worst violation of each run, one of a kind. Without any, of a job, it is the slowest
    checkpoint and the first failed one of each kind, of runs that are made again with their traces.
    """
    told: dict[str, None] = {}
    for found in report.unexpected:
        row = found.violations[0]
        if row.property not in told:
            told[row.property] = None
            yield found, why_violation(row, row.replay)
    model = subject.scenario.model
    if told or not isinstance(model, Job) or not model.checkpointing.coordinated:
        return
    first = {kind: (found, found.failed[kind][1]) for kind, (_, found) in report.incomplete.items()}
    asked = [] if report.slowest is None else [(report.slowest, -report.slowest.slowest[1])]
    traced = is_traced_at_ease(model)
    for found, number in [*asked, *list(first.values())[:_FAILED_MAX]]:
        result = subject.run(found.seed, found.ties, keep_trace=traced)
        yield found, why_of(subject.scenario, result, number)
