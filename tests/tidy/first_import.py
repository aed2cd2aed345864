"""What happens when a module of ours is the first one that is imported, read from the sources.

Really importing each module in a process of its own takes minutes.  What can go wrong is known: in
a circle of imports a module is asked for a name before it has come to it.  So the statements that
an import carries out are walked in their order, and nothing else is looked at.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Load:
    """An import: of a module, or of names from it, each with the name that it gets here."""

    module: str
    names: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Bind:
    """Names that are defined here."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Use:
    """A name of an imported module, used while this module is imported."""

    alias: str
    name: str


Step: TypeAlias = Load | Bind | Use


def steps_of(source: str) -> list[Step]:
    """Return what an import of a source does, in order."""
    return list(_steps(ast.parse(source).body))


def _steps(body: Sequence[ast.stmt]) -> Iterator[Step]:
    for node in body:
        match node:
            case ast.Import():
                yield from (Load(alias.name) for alias in node.names)
            case ast.ImportFrom(module=str(module), level=0):
                names = tuple((alias.name, alias.asname or alias.name) for alias in node.names)
                yield Load(module, names)
            case ast.If(test=ast.Name("TYPE_CHECKING")):
                yield from _steps(node.orelse)
            case ast.If() | ast.For() | ast.While():
                yield from _steps([*node.body, *node.orelse])
            case ast.With():
                yield from _steps(node.body)
            case ast.Try():
                yield from _steps([*node.body, *node.orelse, *node.finalbody])
            case _:
                yield from _uses(node)
                yield Bind(tuple(_bound(node)))


def _bound(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
        return
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
            yield inner.id


def _uses(node: ast.AST) -> Iterator[Use]:
    """Yield uses outside of bodies of functions and of annotations, which are read later."""
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            evaluated: list[ast.AST | None] = [*node.decorator_list, *node.args.defaults]
            evaluated += node.args.kw_defaults
        case ast.Lambda():
            evaluated = [*node.args.defaults, *node.args.kw_defaults]
        case ast.AnnAssign():
            evaluated = [node.value]
        case ast.Attribute(value=ast.Name(alias), attr=name):
            yield Use(alias, name)
            return
        case _:
            evaluated = list(ast.iter_child_nodes(node))
    for inner in evaluated:
        if inner is not None:
            yield from _uses(inner)


@dataclass(slots=True)
class _Module:
    names: set[str] = field(default_factory=set)
    modules: dict[str, str] = field(default_factory=dict)  # name here -> module
    complete: bool = False


class FirstImport:
    """One import into an interpreter that has imported nothing of ours yet.

    steps: of a module by its name, None of everything that is no module of ours.
    """

    def __init__(self, steps: Callable[[str], list[Step] | None]) -> None:
        self.problems: list[str] = []
        self._steps = steps
        self._modules: dict[str, _Module] = {}

    def load(self, name: str) -> None:
        """Import a module, the packages around it first."""
        steps = self._steps(name)
        if name in self._modules or steps is None:
            return
        if parent := name.rpartition(".")[0]:
            self.load(parent)
        if name in self._modules:  # its package has imported it
            return
        module = self._modules[name] = _Module()
        for step in steps:
            match step:
                case Load():
                    self._carry_out(name, module, step)
                case Bind(names):
                    module.names.update(names)
                case Use(alias, used):
                    self._has(name, module.modules.get(alias, ""), used)
        module.complete = True

    def _carry_out(self, importer: str, module: _Module, step: Load) -> None:
        self.load(step.module)
        for name, here in step.names:
            inner = f"{step.module}.{name}"
            found = self._modules.get(step.module)
            if found is not None and name not in found.names and self._steps(inner) is not None:
                self.load(inner)
                module.modules[here] = inner
            else:
                self._has(importer, step.module, name)
            module.names.add(here)

    def _has(self, importer: str, module: str, name: str) -> None:
        found = self._modules.get(module)
        if found is None or found.complete or name in found.names:
            return
        if self._steps(f"{module}.{name}") is None:
            self.problems.append(f"{importer} needs {name} of {module}, which is being imported")
