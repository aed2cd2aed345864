"""Read one module and list its impurities."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from ckptsim.sim.kernel.purity.calls import CallVisitor
from ckptsim.sim.kernel.purity.sets import SetVisitor, declared


class Rule(StrEnum):
    """The forbidden calls."""

    SET_ORDER = "set order"
    HASH = "hash"
    RANDOM = "random"
    CLOCK = "clock"
    OUTSIDE = "outside"


@dataclass(frozen=True, slots=True, order=True)
class Impurity:
    """One place that makes a run depend on more than its seed."""

    line: int
    rule: Rule
    says: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.says}"


# A line that ends in this comment, with a reason, is left alone.
_WAIVER = re.compile(r"#\s*pure:\s*\S")


def impurities(
    source: str,
    rules: Iterable[Rule] = tuple(Rule),
    *,
    sets_elsewhere: frozenset[str] = frozenset(),
) -> list[Impurity]:
    """Return the impurities of a module's source by line. `# pure: REASON` waives a line.

    sets_elsewhere: what `sets_declared` found in the other modules of the program.
    Raises SyntaxError when the source is not Python.
    """
    tree = ast.parse(source)
    wanted = frozenset(rules)
    found: list[Impurity] = []
    if Rule.SET_ORDER in wanted:
        sets = SetVisitor(tree, sets_elsewhere)
        found += [Impurity(line, Rule.SET_ORDER, says) for line, says in sets.found]
    calls = CallVisitor(tree)
    found += [Impurity(line, Rule(rule), says) for line, rule, says in calls.found]
    lines = source.splitlines()
    return sorted(
        impurity
        for impurity in dict.fromkeys(found)
        if impurity.rule in wanted and not _WAIVER.search(lines[impurity.line - 1])
    )


def sets_declared(sources: Iterable[str]) -> frozenset[str]:
    """Return the attributes and functions that some modules declare as sets, and none otherwise."""
    sets: frozenset[str] = frozenset()
    others: frozenset[str] = frozenset()
    for source in sources:
        here, besides = declared(ast.parse(source))
        sets, others = sets | here, others | besides
    return sets - others
