"""Which branches of the cores run: their functions are compiled anew with a note in each branch.

A trace function of the interpreter sees lines only, and makes a run two to three times as slow; the
notes make it a few per cent slower, as each is one store into an array.  They change nothing else:
a noted function does what it did, line numbers included.

A function that is not what its source file says (a fault that somebody has planted in memory) is
left as it is, and so is whatever is no part of `models`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import get_data, walk_packages
from types import CodeType, FunctionType, ModuleType
from typing import Any

from ckptsim import models
from ckptsim.scenarios.generators.choices import lowest
from ckptsim.sim.search.explore.run import Explored, Explorer
from ckptsim.sim.world import load_world

_ROOT = Path(models.__file__).parent.resolve()
_NOTES = "__reached__"
Codes = dict[tuple[str, int], CodeType]
"""Functions by qualified name and first line."""

Compiled = tuple[Codes, Codes, list[str]]
"""Functions without and with notes, and what the notes are of, by number."""


class Branches:
    """Watches which branches run; of a process there is one, as functions are shared."""

    def __init__(self) -> None:
        self._seen: set[str] = set()  # by name: two conditions of a line have one
        for function in _remembering():
            function.cache_clear()  # or it would run only if nothing has asked before

    def run(
        self,
        explorer: Explorer,
        number: int,
        given: Sequence[int] = (),
        more: Callable[[int, int], int] = lowest,
    ) -> tuple[Explored, list[str]]:
        """Carry out a run of exploring, and return the branches that no run before it reached.

        They are named as `ordering/core.py:120 true`.
        """
        # Imported now: what an import runs is no branch of the run that happens to be first.
        for world in explorer.worlds:
            load_world(world)
        for notes in _noted().values():
            notes.clear()
        found = explorer.run(number, given, more)
        fresh: list[str] = []
        for notes in _noted().values():
            for name in (notes.names[number] for number in notes.numbers()):
                if name not in self._seen:
                    self._seen.add(name)
                    fresh.append(name)
        return found, fresh


class Notes:
    """The branches of one module, and which of them have run.

    reached: of a module that has notes already, whose functions know no other.
    """

    def __init__(self, names: list[str], reached: bytearray | None = None) -> None:
        self.names = names
        self.reached = bytearray(len(names)) if reached is None else reached

    def numbers(self) -> Iterator[int]:
        """Yield what has run, by number."""
        number = self.reached.find(1)
        while number >= 0:
            yield number
            number = self.reached.find(1, number + 1)

    def clear(self) -> None:
        """Forget what has run."""
        self.reached[:] = bytes(len(self.names))


@cache
def _noted() -> dict[str, Notes]:
    """Give all functions of cores their notes; return the notes by path.

    All modules, whether a run has imported them or not: what a run reaches must not depend on what
    its process has done before.
    """
    found: dict[str, Notes] = {}
    for each in walk_packages(models.__path__, f"{models.__name__}."):
        module = import_module(each.name)
        path = str(Path(module.__file__ or "").resolve().relative_to(_ROOT))
        found[path] = give_notes(module, _compiled(path))
    return found


@cache
def _remembering() -> list[Any]:
    """Return the functions of cores that remember what they have returned."""
    modules = [import_module(f"{models.__name__}.{_dotted(path)}") for path in _noted()]
    values = [value for module in modules for value in vars(module).values()]
    return [value for value in values if hasattr(value, "cache_clear")]


def _dotted(path: str) -> str:
    return path.removesuffix("__init__.py").removesuffix(".py").replace("/", ".").rstrip(".")


def give_notes(module: ModuleType, functions: Compiled) -> Notes:
    """Give the functions of any module notes, but those that are not what its source says.

    Notes that a module has already are shared.
    """
    plain, noted, names = functions
    notes = Notes(names, vars(module).get(_NOTES))
    vars(module)[_NOTES] = notes.reached
    for function in dict.fromkeys(_functions(module)):
        code = function.__code__
        place = code.co_qualname, code.co_firstlineno
        if plain.get(place) == code:
            function.__code__ = noted[place]
    return notes


@cache
def _compiled(path: str) -> Compiled:
    """Return the functions of a source of cores without and with notes, and what these are of."""
    return compiled(source_of(path), path, str(_ROOT / path))


def compiled(source: bytes, path: str, file: str) -> Compiled:
    """Return the functions of a source without and with notes, and what the notes are of.

    path: by which notes name the source; file: what tracebacks say.
    """
    plain = dict(_codes(compile(source, path, "exec", dont_inherit=True)))
    tree, names = _inserted(source, path)
    noted = dict(_codes(compile(tree, file, "exec", dont_inherit=True)))
    return plain, noted, names


def _inserted(source: bytes, path: str) -> tuple[ast.Module, list[str]]:
    """Return the syntax tree of a file with a note in each branch, and what each is of."""
    inserting = _Inserting(path)
    tree: ast.Module = inserting.visit(ast.parse(source))
    return tree, inserting.names


def source_of(path: str) -> bytes:
    """Return the source of a file of cores, also where the program is an archive of a cluster."""
    found = get_data(models.__name__, path)
    if found is None:
        raise FileNotFoundError(path)
    return found


def _codes(code: CodeType) -> Iterator[tuple[tuple[str, int], CodeType]]:
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield (inner.co_qualname, inner.co_firstlineno), inner
            yield from _codes(inner)


def _functions(module: ModuleType) -> Iterator[FunctionType]:
    """Yield the functions and methods that a module defines."""
    for value in list(vars(module).values()):
        if getattr(value, "__module__", None) != module.__name__:
            continue
        if isinstance(value, type):
            for member in list(vars(value).values()):
                yield from _inside(member)
        else:
            yield from _inside(value)


def _inside(member: Any) -> Iterator[FunctionType]:
    """Yield the functions that a property, a class method or a cached function consists of."""
    if isinstance(member, property):
        yield from _inside(member.fget)
    elif isinstance(member, FunctionType):
        yield member
    else:
        inner = getattr(member, "__func__", None) or getattr(member, "__wrapped__", None)
        if isinstance(inner, FunctionType):
            yield inner


class _Inserting(ast.NodeTransformer):
    """Inserts a note into each branch; `names` says what each is of, by number."""

    def __init__(self, path: str) -> None:
        self.names: list[str] = []
        self._path = path

    def _number(self, line: int, what: str) -> ast.Constant:
        self.names.append(f"{self._path}:{line} {what}")
        return ast.Constant(len(self.names) - 1)

    def _noting(self, line: int, what: str) -> ast.stmt:
        """Return a statement that takes a note."""
        place = ast.Subscript(
            ast.Name(_NOTES, ast.Load()), self._number(line, what), ctx=ast.Store()
        )
        note = ast.copy_location(ast.Assign([place], ast.Constant(1)), _at(line))
        return ast.fix_missing_locations(note)  # here: the whole tree takes a third of the set-up

    def _noted(self, value: ast.expr, what: str) -> ast.expr:
        """Return an expression that takes a note and has the value of another one."""
        call = ast.Call(
            ast.Attribute(ast.Name(_NOTES, ast.Load()), "__setitem__", ast.Load()),
            [self._number(value.lineno, what), ast.Constant(1)],
            [],
        )
        ast.fix_missing_locations(ast.copy_location(call, value))
        return ast.copy_location(ast.BoolOp(ast.Or(), [call, value]), value)

    def visit_Module(self, node: ast.Module) -> ast.AST:
        """Look into the functions alone: what runs once, at the import, is no branch of a run."""
        return self._in_functions(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        """Look into the methods, but for those of an interface, which nobody runs."""
        bases = [base.value if isinstance(base, ast.Subscript) else base for base in node.bases]
        interface = any(isinstance(base, ast.Name) and base.id == "Protocol" for base in bases)
        return node if interface else self._in_functions(node)

    def _in_functions(self, node: ast.AST) -> ast.AST:
        for each in ast.iter_child_nodes(node):
            if isinstance(each, ast.FunctionDef | ast.ClassDef):
                self.visit(each)  # changes it in its place
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """Note that a function is called."""
        note = self._noting(node.lineno, "call")
        self.generic_visit(node)
        node.body.insert(int(ast.get_docstring(node, clean=False) is not None), note)
        return node

    def visit_If(self, node: ast.If) -> ast.AST:
        """Note which of two ways is taken."""
        notes = [self._noting(node.lineno, what) for what in ("true", "false")]
        self.generic_visit(node)
        node.body.insert(0, notes[0])
        node.orelse.insert(0, notes[1])
        return node

    def _loop(self, node: ast.For | ast.While) -> ast.AST:
        note = self._noting(node.lineno, "loop")
        self.generic_visit(node)
        node.body.insert(0, note)
        return node

    visit_For = visit_While = _loop  # noqa: N815 - of `ast`

    def visit_match_case(self, node: ast.match_case) -> ast.AST:
        """Note which case is taken, but for the one that a type checker has found to be none."""
        if ast.unparse(node.body[0]).startswith("assert_never("):
            return node
        note = self._noting(node.pattern.lineno, "case")
        self.generic_visit(node)
        node.body.insert(0, note)
        return node

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.AST:
        """Note that an exception is caught."""
        note = self._noting(node.lineno, "except")
        self.generic_visit(node)
        node.body.insert(0, note)
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        """Note which of two values is taken."""
        self.generic_visit(node)
        node.body = self._noted(node.body, "true")
        node.orelse = self._noted(node.orelse, "false")
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        """Note how far a condition is looked at."""
        self.generic_visit(node)
        what = "and" if isinstance(node.op, ast.And) else "or"
        node.values[1:] = [self._noted(value, what) for value in node.values[1:]]
        return node


def _at(line: int) -> ast.stmt:
    return ast.Pass(lineno=line, col_offset=0, end_lineno=line, end_col_offset=0)


def branches_by_file(reached: Iterable[str]) -> dict[str, tuple[int, list[str]]]:
    """Return, for every file of cores, how many branches it has and which were not reached.

    The file's name -> how many, and those missing as `120 true`; files without branches are absent.
    What the import of the file runs, to make its tables, is no branch of a run.
    """
    seen = set(reached)
    found: dict[str, tuple[int, list[str]]] = {}
    for path in sorted(_noted()):
        every = [name for name in dict.fromkeys(_compiled(path)[2]) if name not in _imported(path)]
        if every:
            missing = [name.partition(".py:")[2] for name in every if name not in seen]
            found[path] = (len(every), missing)
    return found


@cache
def _imported(path: str) -> frozenset[str]:
    """Return the branches that run when a file is imported."""
    module = f"{models.__name__}.{_dotted(path)}"
    names, reached = _compiled(path)[2], bytearray(len(_compiled(path)[2]))
    code = compile(
        _inserted(source_of(path), path)[0], str(_ROOT / path), "exec", dont_inherit=True
    )
    # What this makes is forgotten at once, and the import of a core has no other effect.
    exec(code, {"__name__": module, _NOTES: reached})
    return frozenset(name for name, ran in zip(names, reached, strict=True) if ran)
