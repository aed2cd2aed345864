"""What the modules of a program declare as sets, for the search for their order in all of them."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from ckptsim.sim.kernel.purity.sets import is_set_annotation


def sets_declared(sources: Iterable[str]) -> frozenset[str]:
    """Return the attributes and functions that some modules declare as sets, and none otherwise."""
    sets: frozenset[str] = frozenset()
    others: frozenset[str] = frozenset()
    for source in sources:
        here, besides = _declared(ast.parse(source))
        sets, others = sets | here, others | besides
    return sets - others


def _declared(tree: ast.Module) -> tuple[frozenset[str], frozenset[str]]:
    """Return the attributes and functions that a module declares as sets, and as anything else."""
    sets: list[str] = []
    others: list[str] = []
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name, returns=annotation):
                (sets if is_set_annotation(annotation) else others).append(name)
            case ast.AnnAssign(target=ast.Attribute(attr=name), annotation=annotation):
                (sets if is_set_annotation(annotation) else others).append(name)
            case ast.ClassDef(body=body):
                for part in body:
                    if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name):
                        known = is_set_annotation(part.annotation)
                        (sets if known else others).append(part.target.id)
            case _:
                pass
    return frozenset(sets), frozenset(others)
