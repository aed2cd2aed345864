"""What a search has drawn: how often each kind of fault, what was refused, what was left out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

RESTARTS = "exponential_delay in place of none, with which the first failure would end the job"


@dataclass(slots=True, kw_only=True)
class Tally:
    """Counts of the faults that were drawn for one scenario.

    drawn: kind -> number; refused: kind -> number of those that did not fit the scenario; because:
    what the first of them ran into; left_out: kind -> why it is not drawn for this scenario.
    restarts: the job has a restart strategy here, which it has not by itself.
    """

    drawn: dict[str, int] = field(default_factory=dict)
    refused: dict[str, int] = field(default_factory=dict)
    because: dict[str, str] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    restarts: bool = False

    def enter(self, kind: str, problem: str | None) -> None:
        """Count a fault that fits, or one that was refused for a problem."""
        where = self.drawn if problem is None else self.refused
        where[kind] = where.get(kind, 0) + 1
        if problem is not None:
            self.because.setdefault(kind, problem)

    def document(self) -> dict[str, Any]:
        """Return the counts as JSON data."""
        refused = {
            kind: {"count": self.refused[kind], "because": self.because[kind]}
            for kind in sorted(self.refused)
        }
        drawn = {kind: self.drawn[kind] for kind in sorted(self.drawn)}
        left_out = dict(sorted(self.left_out.items()))
        restart = {"restart": RESTARTS} if self.restarts else {}
        return {"drawn": drawn, "refused": refused, "left_out": left_out} | restart

    def rows(self) -> list[tuple[str, str]]:
        """Return the counts as lines for people: a heading and a sentence each."""
        total, kinds = sum(self.drawn.values()), len(self.drawn)
        refused = [
            f"{self.refused[kind]} {kind}: {self.because[kind]}" for kind in sorted(self.refused)
        ]
        reasons: dict[str, list[str]] = {}
        for kind, why in sorted(self.left_out.items()):
            reasons.setdefault(why, []).append(kind)
        left_out = [f"{', '.join(kinds)}: {why}" for why, kinds in reasons.items()]
        restarts = [("restart", RESTARTS)] if self.restarts else []
        return [
            *restarts,
            ("drawn", f"{total} faults of {kinds} kinds; refused: {sum(self.refused.values())}"),
            *(("refused", line) for line in refused),
            *(("not drawn", line) for line in left_out),
        ]
