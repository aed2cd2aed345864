"""The faults that can be planted in a file of cores, by operators over its syntax tree.

Left alone are texts for people (functions that return `str`, the arguments of everything that is
raised), annotations, and the bodies of classes outside of their functions: numbers of enumerations
and defaults of parameters.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
MODELS = ROOT / "models"
_TEXT_MAX = 100
Edit = tuple[ast.AST, str, object]
"""A node, the name of one of its fields, and what this is to be."""

_BOUNDARY: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
}
_OPPOSITE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.BitAnd: ast.BitOr,
}
_CALLS = {"min": "max", "max": "min", "any": "all", "all": "any"}
_TEXT_FUNCTIONS = frozenset({"__str__", "__repr__"})


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault that can be planted.

    file: below `models`. function: its qualified name, or "module". before, after: source text of
    everything that is changed. number: which of those that are alike in the function, from 1.
    line, last_line: where it is today, which is no part of what it is.
    """

    file: str
    function: str
    operator: str
    before: str
    after: str
    number: int
    line: int
    last_line: int

    @property
    def key(self) -> tuple[str, str, str, str, str, int]:
        """Return what the fault is, wherever in the file it is."""
        return self.file, self.function, self.operator, self.before, self.after, self.number

    @property
    def core(self) -> str:
        """Return the package of `models` that it is in."""
        return self.file.partition("/")[0]

    def __str__(self) -> str:
        place = f"{self.file}:{self.line} {self.function}"
        return f"{place}: {self.operator}: {self.before}  ->  {self.after}"


def files() -> list[str]:
    """Return the files of cores, below `models`. Doors have imports alone."""
    found = [path for path in sorted(MODELS.rglob("*.py")) if path.name != "__init__.py"]
    return [path.relative_to(MODELS).as_posix() for path in found]


def faults_of(file: str) -> list[Fault]:
    """Return every fault that can be planted in a file, in the order of the source."""
    return [fault for fault, _ in _planned(file, _parsed(file))]


def planted(fault: Fault) -> ast.Module:
    """Return the syntax tree of the fault's file with the fault in it.

    Raises LookupError when the file has no such fault.
    """
    tree = _parsed(fault.file)
    for found, edits in _planned(fault.file, tree):
        if found.key == fault.key:
            _apply(edits)
            return ast.fix_missing_locations(tree)
    raise LookupError(f"no such fault: {fault}")


def _parsed(file: str) -> ast.Module:
    return ast.parse((MODELS / file).read_text(encoding="utf-8"))


def _planned(file: str, tree: ast.Module) -> Iterator[tuple[Fault, list[Edit]]]:
    alike: Counter[tuple[str, ...]] = Counter()
    for site in _sites_of_body(tree, "module"):
        before = _text(site.shown)
        undo = _apply(site.edits)
        after = site.after or _text(site.shown)
        _apply(undo)
        what = (site.function, site.operator, before, after)
        alike[what] += 1
        lines = (site.shown.lineno, site.shown.end_lineno or site.shown.lineno)
        yield Fault(file, *what, alike[what], *lines), site.edits


def _text(node: ast.AST) -> str:
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= _TEXT_MAX else text[: _TEXT_MAX - 3] + "..."


def _apply(edits: Sequence[Edit]) -> list[Edit]:
    """Carry edits out. Return those that take them back."""
    undo: list[Edit] = [(node, field, getattr(node, field)) for node, field, _ in edits]
    for node, field, value in edits:
        setattr(node, field, value)
    return undo


@dataclass(frozen=True, slots=True)
class _Site:
    """A place, and the edits of one fault there. after: its text where `shown` does not say it."""

    function: str
    operator: str
    shown: ast.expr | ast.stmt
    edits: list[Edit]
    after: str = ""


def _sites_of_body(owner: ast.AST, function: str) -> Iterator[_Site]:
    """Yield the sites of the statements of a module, a function or a block."""
    for field in ("body", "orelse", "finalbody"):
        statements = getattr(owner, field, None)
        if not isinstance(statements, list):
            continue
        for at, statement in enumerate(statements):
            if function != "module" and _can_be_deleted(statement):
                rest = [*statements[:at], ast.Pass(), *statements[at + 1 :]]
                edits: list[Edit] = [(owner, field, rest)]
                yield _Site(function, "delete statement", statement, edits, after="pass")
            yield from _sites_of_statement(statement, function)


def _can_be_deleted(statement: ast.stmt) -> bool:
    """Return whether a statement has an effect and can be missed by the compiler.

    Names of locals are not deleted: what reads them would raise at once, which shows nothing.
    """
    if isinstance(statement, ast.Expr):
        call = statement.value
        never = isinstance(call, ast.Call) and ast.unparse(call.func) == "assert_never"
        return not isinstance(call, ast.Constant) and not never
    if isinstance(statement, ast.Assign):
        return not any(isinstance(target, ast.Name | ast.Tuple) for target in statement.targets)
    kinds = (ast.AugAssign, ast.Delete, ast.Raise, ast.Continue, ast.Break)
    return isinstance(statement, kinds) or (
        isinstance(statement, ast.Return) and statement.value is None
    )


def _sites_of_statement(statement: ast.stmt, function: str) -> Iterator[_Site]:
    match statement:
        case ast.FunctionDef():
            if not _makes_text(statement):
                yield from _sites_of_body(statement, _inside(function, statement.name))
        case ast.ClassDef():
            for each in statement.body:
                if isinstance(each, ast.FunctionDef):
                    yield from _sites_of_statement(each, _inside(function, statement.name))
        case ast.Raise() | ast.Assert() | ast.Import() | ast.ImportFrom():
            return
        case ast.AnnAssign() | ast.Assign() | ast.AugAssign():
            yield from _sites_of_assignment(statement, function)
        case _:
            yield from _sites_of_block(statement, function)


def _sites_of_block(statement: ast.stmt, function: str) -> Iterator[_Site]:
    """Yield the sites of a statement that has others inside, or nothing but expressions."""
    if isinstance(statement, ast.If | ast.While):
        yield from _sites_of_condition(statement, statement.test, function)
    else:
        for child in ast.iter_child_nodes(statement):
            if isinstance(child, ast.expr):
                yield from _sites_of_expression(child, function)
    yield from _sites_of_body(statement, function)
    for case in getattr(statement, "cases", ()):
        if case.guard is not None:
            yield from _sites_of_condition(case, case.guard, function, field="guard")
        yield from _sites_of_body(case, function)
    for handler in getattr(statement, "handlers", ()):
        yield from _sites_of_body(handler, function)


def _sites_of_assignment(
    statement: ast.AnnAssign | ast.Assign | ast.AugAssign, function: str
) -> Iterator[_Site]:
    if function == "module" and _names_types(statement):
        return
    if isinstance(statement, ast.AugAssign) and type(statement.op) in _ARITHMETIC:
        edits: list[Edit] = [(statement, "op", _ARITHMETIC[type(statement.op)]())]
        yield _Site(function, "arithmetic", statement, edits)
    if statement.value is not None:
        yield from _sites_of_expression(statement.value, function)


def _inside(function: str, name: str) -> str:
    return name if function == "module" else f"{function}.{name}"


def _makes_text(function: ast.FunctionDef) -> bool:
    returns = "" if function.returns is None else ast.unparse(function.returns)
    return returns == "str" or function.name in _TEXT_FUNCTIONS


def _names_types(statement: ast.stmt) -> bool:
    """Return whether a module's assignment is of types or of the list of its names."""
    text = ast.unparse(statement)
    return text.startswith("__all__") or any(
        w in text for w in ("TypeVar(", "TypeAlias", "Callable[")
    )


def _sites_of_condition(
    owner: ast.AST, test: ast.expr, function: str, *, field: str = "test"
) -> Iterator[_Site]:
    """Yield the sites of a condition. Where no operator negates it, its negation, too."""
    has_opposite = isinstance(test, ast.UnaryOp) or (
        isinstance(test, ast.Compare) and type(test.ops[0]) in _OPPOSITE
    )
    if not has_opposite and not isinstance(test, ast.Constant):
        negated = ast.UnaryOp(op=ast.Not(), operand=test)
        edits: list[Edit] = [(owner, field, negated)]
        after = f"not ({_text(test)})"
        yield _Site(function, "negate condition", test, edits, after=after)
    yield from _sites_of_expression(test, function)


def _sites_of_expression(node: ast.expr, function: str) -> Iterator[_Site]:
    """Yield the sites of an expression and of all that is in it."""
    yield from _sites_of_logic(node, function)
    yield from _sites_of_values(node, function)
    if isinstance(node, ast.JoinedStr):
        return
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):
            yield from _sites_of_expression(child, function)
        elif isinstance(child, ast.keyword):
            yield from _sites_of_expression(child.value, function)
        elif isinstance(child, ast.comprehension):
            for part in (child.iter, *child.ifs):
                yield from _sites_of_expression(part, function)


def _sites_of_logic(node: ast.expr, function: str) -> Iterator[_Site]:
    """Yield the faults of one node itself, where it is of truth values."""
    match node:
        case ast.Compare():
            yield from _sites_of_comparison(node, function)
        case ast.BoolOp(op=op):
            other = ast.Or() if isinstance(op, ast.And) else ast.And()
            yield _Site(function, "and/or", node, [(node, "op", other)])
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            # `not not x` in place, whatever is around it.
            edits: list[Edit] = [(node, "operand", ast.UnaryOp(op=ast.Not(), operand=operand))]
            yield _Site(function, "drop not", node, edits, after=_text(operand))
        case ast.IfExp(body=body, orelse=orelse):
            swapped: list[Edit] = [(node, "body", orelse), (node, "orelse", body)]
            yield _Site(function, "swap branches", node, swapped)
        case ast.Constant(value=bool() as value):
            yield _Site(function, "constant", node, [(node, "value", not value)])


def _sites_of_values(node: ast.expr, function: str) -> Iterator[_Site]:
    """Yield the faults of one node itself, where it is of numbers or collections."""
    match node:
        case ast.BinOp(op=op, left=left, right=right) if type(op) in _ARITHMETIC:
            if not any(isinstance(side, ast.Tuple | ast.List) for side in (left, right)):
                yield _Site(function, "arithmetic", node, [(node, "op", _ARITHMETIC[type(op)]())])
        case ast.Constant(value=int() as value) if not isinstance(value, bool):
            yield _Site(function, "constant", node, [(node, "value", value + 1)])
        case ast.Call(func=ast.Name(id=name)) if name in _CALLS:
            other = ast.Name(id=_CALLS[name], ctx=ast.Load())
            yield _Site(function, "min/max, any/all", node, [(node, "func", other)])
        case ast.List(elts=items) | ast.Set(elts=items):
            yield from _sites_of_items(node, items, function)
        case ast.Dict(keys=keys, values=values) if len(keys) > 1:
            for at, key in enumerate(keys):
                edits: list[Edit] = [
                    (node, "keys", keys[:at] + keys[at + 1 :]),
                    (node, "values", values[:at] + values[at + 1 :]),
                ]
                yield _Site(function, "drop item", key or values[at], edits, after="dropped")


def _sites_of_comparison(node: ast.Compare, function: str) -> Iterator[_Site]:
    for at, op in enumerate(node.ops):
        for name, table in (("boundary", _BOUNDARY), ("comparison", _OPPOSITE)):
            if type(op) in table:
                changed = [*node.ops[:at], table[type(op)](), *node.ops[at + 1 :]]
                yield _Site(function, name, node, [(node, "ops", changed)])
    # The items of `state in (A, B)`. Other tuples have a shape that anyone who takes them relies
    # on.
    for op, compared in zip(node.ops, node.comparators, strict=True):
        if isinstance(op, ast.In | ast.NotIn) and isinstance(compared, ast.Tuple):
            yield from _sites_of_items(compared, compared.elts, function)


def _sites_of_items(node: ast.expr, items: list[ast.expr], function: str) -> Iterator[_Site]:
    for at, item in enumerate(items):
        edits: list[Edit] = [(node, "elts", items[:at] + items[at + 1 :])]
        yield _Site(function, "drop item", item, edits, after="dropped")
