"""Why drawn scenarios do not reach some branches of cores: reasons from a file, by place.

`python -m tests.search.exploring.unreached LINK ... [--runs N]` prints the branches of cores that
the first runs of some links do not reach, with the reason of each that has one.
"""

from __future__ import annotations

import argparse
import ast
import tomllib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from ckptsim.scenarios.generators import GENERATORS
from ckptsim.sim.search.explore.corpus import evenly
from ckptsim.sim.search.explore.run import Explorer
from tests.search.exploring.branches import Branches, branches_by_file, source_of

_FILE = Path(__file__).with_suffix(".toml")
Place = tuple[str, str]
"""A file of cores and a function in it, or a line of one as it stands there."""


@cache
def reasons() -> dict[Place, str]:
    """Return place -> why it, or a branch that begins there, is not reached.

    Raises ValueError for a place with two reasons.
    """
    found: dict[Place, str] = {}
    for row in tomllib.loads(_FILE.read_text(encoding="utf-8"))["reason"]:
        for where in row["where"]:
            path, _, what = where.partition(" ")
            if (path, what) in found:
                raise ValueError(f"two reasons for {where}")
            found[path, what] = row["says"]
    return found


def explained(path: str, branches: Iterable[str]) -> dict[str, str]:
    """Return those of a file's branches, as `120 true`, that have a reason, with the reason."""
    known = reasons()
    places = _places(path)
    return {
        branch: says
        for branch in branches
        for place in places.get(int(branch.split()[0]), ())
        if (says := known.get((path, place))) is not None
    }


@cache
def _places(path: str) -> dict[int, tuple[str, ...]]:
    """Return line -> the functions around it and its text."""
    source = source_of(path).decode()
    lines = enumerate(source.splitlines(), start=1)
    found: dict[int, tuple[str, ...]] = {at: (text.strip(),) for at, text in lines}
    for name, node in _functions(ast.parse(source), ""):
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1):
            found[line] = (*found[line], name)
    return found


def _functions(owner: ast.AST, within: str) -> Iterable[tuple[str, ast.FunctionDef | ast.ClassDef]]:
    """Yield classes and functions by their qualified names."""
    for node in ast.iter_child_nodes(owner):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield within + node.name, node
            yield from _functions(node, f"{within}{node.name}.")


def places_of(path: str) -> set[str]:
    """Return all places of a file that a reason can name."""
    return {place for places in _places(path).values() for place in places}


def main() -> None:
    """Carry out runs, and print which branches they leave out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("links", nargs="*", default=list(GENERATORS))
    parser.add_argument("--runs", type=int, default=100)
    arguments = parser.parse_args()
    branches, reached = Branches(), set[str]()
    for link in arguments.links:
        for number in range(arguments.runs):
            reached.update(branches.run(Explorer(link=link), number, (), evenly(0, number))[1])
    files = branches_by_file(reached)
    for path, (count, missing) in files.items():
        why = explained(path, missing)
        print(f"{path}: {count - len(missing)} of {count}")
        print(
            "".join(f"  {each}: {why.get(each, 'no reason is known')}\n" for each in missing),
            end="",
        )


if __name__ == "__main__":
    main()
