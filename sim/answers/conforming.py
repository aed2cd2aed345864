"""The answer of `conform`: what became of every vector, and what in the files is none."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ckptsim.scenarios.errors import UserError
from ckptsim.sim.conform.runner import VectorOutcome, check_ignored, choose, declined, run_file
from ckptsim.sim.slots import Factory
from ckptsim.sim.slots.resolve import Choice, try_out


@dataclass(frozen=True, slots=True, kw_only=True)
class Conformance:
    """The outcome of every vector, in the order of the files, and of what cores.

    problems: a sentence for each thing in the files that is no vector.
    """

    outcomes: Sequence[VectorOutcome]
    problems: Sequence[str]
    choice: Choice

    @property
    def passed(self) -> int:
        """Return how many vectors passed."""
        return sum(1 for o in self.outcomes if o.mismatch is None and o.skipped is None)

    @property
    def failed(self) -> int:
        """Return how many vectors the core did not follow."""
        return sum(1 for outcome in self.outcomes if outcome.mismatch is not None)

    @property
    def skipped(self) -> int:
        """Return how many vectors were not run."""
        return len(self.outcomes) - self.passed - self.failed

    def counts(self) -> str:
        """Return the last line of the answer."""
        tail = f", {self.skipped} skipped" if self.skipped else ""
        return f"{self.passed} passed, {self.failed} failed{tail}"


def conform(
    files: Sequence[Path],
    *,
    cores: Mapping[str, Factory | str] | None = None,
    mutant: str | None = None,
    ignore: Sequence[str] = (),
    told: Callable[[VectorOutcome], object] = id,
) -> Conformance:
    """Run the vectors of every file against a core; each outcome is handed to `told` at once.

    Raises UserError for cores, mutants and names to ignore that none of the files is about.
    """
    choice = Choice()
    if cores or mutant is not None:
        choice = choose(files, cores=cores, mutant=mutant)
        named = {slot: core for slot, core in (cores or {}).items() if isinstance(core, str)}
        try_out(named, fenced=False)
    check_ignored(files, ignore)
    outcomes: list[VectorOutcome] = []
    problems: list[str] = []
    for path in files:
        try:
            for found in run_file(path, choice=choice):
                outcomes.append(declined(found, ignore))
                told(outcomes[-1])
        except UserError as error:  # the other files still say what they have to say
            problems += [line for line in str(error).splitlines() if line not in problems]
    return Conformance(outcomes=outcomes, problems=problems, choice=choice)
