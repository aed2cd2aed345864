"""Why a find breaks its property: the violation, what led to it, and what our core would do."""

from __future__ import annotations

from ckptsim.scenarios.dialect import duration_text
from ckptsim.sim.search.folder import Kept
from ckptsim.sim.search.stories import stories
from ckptsim.sim.why.answer import Why

_LED_TO_IT = 2


def why_find(kept: Kept) -> Why:
    """Run what a find's folder repeats once more, and return what broke and what led to it."""
    subject = kept.subject
    result = subject.run(kept.seed, kept.ties, keep_trace=True)
    rows = stories(subject, result, beside=False)
    row = next((one for one in rows if one.property == kept.property), None)
    if row is None:
        return Why(happened=f"{kept.property} holds: scenario, program or core have changed.")
    of = "" if row.index is None else f" at {row.scope or 'checkpoint'}/{row.index}"
    happened = f"{row.property} does not hold{of}, at {duration_text(row.at_ns)}: {row.says}."
    lines = [" ".join(line.split()) for line in row.story.splitlines() if line.strip()]
    ours = next((line for line in lines if "ours" in line), "")
    led = [line for line in lines if line != ours and row.property not in line][-_LED_TO_IT:]
    return Why(
        happened=happened,
        because="Before: " + "; ".join(led) + "." if led else "",
        there=ours,
        note=f"Repeat it: ckptsim replay {kept.subject.source}",
    )
