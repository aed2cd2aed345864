"""Find uses of a set in which its order shows.

The types are guessed from the module: literals, calls of `set`, annotations of names, arguments,
attributes and results.  What a guess misses, the tests under several hash seeds have to find. What
it takes for a set is one.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

_SET_NAMES = frozenset({"set", "frozenset", "Set", "FrozenSet", "AbstractSet", "MutableSet"})
_SET_METHODS = frozenset(
    {"union", "intersection", "difference", "symmetric_difference", "copy", "__or__", "__and__"}
)
# Functions that use every item once, with a result that does not depend on the order.
_BLIND = frozenset(
    {"sorted", "set", "frozenset", "len", "any", "all", "bool", "isinstance", "type"}
)
_BLIND_WITHOUT_KEY = frozenset({"min", "max"})
# Functions and methods with a result or effect that shows the order.
_SHOWING = frozenset(
    {"list", "tuple", "enumerate", "zip", "map", "filter", "iter", "next", "sum", "deque", "chain"}
    | {"dict", "str", "repr", "print", "reduce", "fromkeys", "join", "extend", "dumps", "islice"}
)
_ADVICE = "sort it, or keep a list or a dict"
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


class SetVisitor(ast.NodeVisitor):
    """Collects `(line, sentence)` over one module."""

    def __init__(self, tree: ast.Module, elsewhere: frozenset[str] = frozenset()) -> None:
        self.found: list[tuple[int, str]] = []
        self._elsewhere = elsewhere  # attributes and functions of sets that other modules declare
        self._results = frozenset(_functions_of_sets(tree))
        self._scopes: list[dict[str, bool]] = [_names(tree, self._results)]
        self._attributes: list[frozenset[str]] = [frozenset()]
        self.visit(tree)

    # Scopes -----------------------------------------------------------------------------------

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        """Learn the class's attributes before reading its methods."""
        self._attributes.append(frozenset(_attributes(node, self._results)))
        self.generic_visit(node)
        self._attributes.pop()

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        """Learn the function's names before reading its body."""
        self._scopes.append(_names(node, self._results))
        self.generic_visit(node)
        self._scopes.pop()

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        """Treat a coroutine as any function."""
        self.visit_FunctionDef(node)

    # Uses that show the order -----------------------------------------------------------------

    def visit_For(self, node: ast.For) -> None:
        """Refuse a loop over a set."""
        self._check(node.iter, "a loop runs over")
        self.generic_visit(node)

    def visit_Starred(self, node: ast.Starred) -> None:
        """Refuse unpacking a set, unless into another set."""
        self._check(node.value, "an unpacking shows")
        self.generic_visit(node)

    def visit_YieldFrom(self, node: ast.YieldFrom) -> None:
        """Refuse yielding the items of a set."""
        self._check(node.value, "`yield from` shows")
        self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        """Refuse `a, b = a_set`."""
        if any(isinstance(target, ast.Tuple | ast.List) for target in node.targets):
            self._check(node.value, "an unpacking shows")
        self.generic_visit(node)

    def visit_FormattedValue(self, node: ast.FormattedValue) -> None:
        """Refuse a set inside a formatted string."""
        self._check(node.value, "a text shows")
        self.generic_visit(node)

    def visit_ListComp(self, node: ast.ListComp) -> None:
        """Refuse a list made from a set's items."""
        self._check_generators(node)

    def visit_DictComp(self, node: ast.DictComp) -> None:
        """Refuse a dict made from a set's items."""
        self._check_generators(node)

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> None:
        """Refuse a generator over a set. Calls that are blind to order do not come here."""
        self._check_generators(node)

    def visit_Call(self, node: ast.Call) -> None:
        """Refuse handing a set to what shows its order, and taking any one item out of it."""
        name = _called(node)
        keyed = any(word.arg == "key" for word in node.keywords)
        blind = name in _BLIND or (name in _BLIND_WITHOUT_KEY and not keyed)
        if isinstance(node.func, ast.Attribute) and name == "pop" and not node.args:
            self._check(node.func.value, "`pop` takes an arbitrary item of")
        for argument in node.args:
            if name in _SHOWING or (name in _BLIND_WITHOUT_KEY and keyed):
                self._check(argument, f"`{name}` shows the order of")
            if blind and isinstance(argument, ast.GeneratorExp | ast.Starred):
                for child in ast.iter_child_nodes(argument):
                    self._visit_inside(child)
            else:
                self.visit(argument)
        self.visit(node.func)
        for word in node.keywords:
            self.visit(word.value)

    def _visit_inside(self, node: ast.AST) -> None:
        """Visit a part of a generator in any order."""
        if isinstance(node, ast.comprehension):
            self.generic_visit(node)
        else:
            self.visit(node)

    def _check_generators(self, node: ast.ListComp | ast.DictComp | ast.GeneratorExp) -> None:
        for generator in node.generators:
            self._check(generator.iter, "a comprehension runs over")
        self.generic_visit(node)

    def _check(self, node: ast.expr, what: str) -> None:
        if self._is_set(node):
            self.found.append((node.lineno, f"{what} a set: {_ADVICE}"))

    # Guessing types ---------------------------------------------------------------------------

    def _is_set(self, node: ast.expr) -> bool:
        match node:
            case ast.Name(id=name):
                scope = next((scope for scope in reversed(self._scopes) if name in scope), {})
                return scope.get(name, False)
            case ast.Attribute(value=ast.Name(id="self"), attr=name):
                return name in self._attributes[-1]
            case ast.Attribute(attr=name):
                return name in self._elsewhere
            case ast.BinOp(left=left, op=ast.BitOr() | ast.BitAnd() | ast.Sub() | ast.BitXor()):
                return self._is_set(left) or self._is_set(node.right) or _is_view(left)
            case ast.IfExp(body=body, orelse=orelse):
                return self._is_set(body) or self._is_set(orelse)
            case ast.Call(func=ast.Attribute(value=value, attr=name)) if name in _SET_METHODS:
                return self._is_set(value)
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if (
                name in self._elsewhere
            ):
                return True
            case _:
                return _makes_set(node, self._results)


def _makes_set(node: ast.expr | None, results: frozenset[str]) -> bool:
    """Return whether an expression is a set by its own look."""
    match node:
        case ast.Set() | ast.SetComp():
            return True
        case ast.Call(func=ast.Name(id=name)):
            return name in ("set", "frozenset") or name in results
        case ast.Call(func=ast.Attribute(value=ast.Name(id="self"), attr=name)):
            return name in results
        case ast.Call(
            func=ast.Name(id="field"),
            keywords=[ast.keyword(arg="default_factory", value=ast.Name(id="set"))],
        ):
            return True
        case _:
            return False


def _is_view(node: ast.expr) -> bool:
    """Return whether an expression is a view of a dict's keys."""
    return isinstance(node, ast.Call) and _called(node) in ("keys", "items") and not node.args


def _called(node: ast.Call) -> str:
    match node.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""


def is_set_annotation(node: ast.expr | None) -> bool:
    """Return whether an annotation is a type of sets."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name in _SET_NAMES
        case ast.Subscript(value=value):
            return is_set_annotation(value)
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return is_set_annotation(left) or is_set_annotation(right)
        case ast.Constant(value=str(text)):
            return text.partition("[")[0] in _SET_NAMES
        case _:
            return False


def _own_statements(scope: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a scope without the ones of functions and classes inside it."""
    pending = list(ast.iter_child_nodes(scope))
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            pending.extend(ast.iter_child_nodes(node))


def _names(scope: ast.AST, results: frozenset[str]) -> dict[str, bool]:
    """Return for each name bound in a scope whether it is a set."""
    names: dict[str, bool] = {}
    if isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef):
        arguments = scope.args
        for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
            names[argument.arg] = is_set_annotation(argument.annotation)
    for node in _own_statements(scope):
        match node:
            case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation):
                names[name] = names.get(name, False) or is_set_annotation(annotation)
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                names[name] = names.get(name, False) or _makes_set(value, results)
            case ast.NamedExpr(target=ast.Name(id=name), value=value):
                names[name] = names.get(name, False) or _makes_set(value, results)
            case ast.For(target=ast.Name(id=name)) | ast.comprehension(target=ast.Name(id=name)):
                names.setdefault(name, False)
            case _:
                pass
    return names


def _attributes(node: ast.ClassDef, results: frozenset[str]) -> Iterator[str]:
    """Yield the attributes of a class that are sets, from its body and from `self.x = ...`."""
    for part in ast.walk(node):
        match part:
            case ast.AnnAssign(
                target=ast.Name(id=name) | ast.Attribute(value=ast.Name(id="self"), attr=name),
                annotation=annotation,
                value=value,
            ):
                if is_set_annotation(annotation) or _makes_set(value, results):
                    yield name
            case ast.Assign(
                targets=[ast.Attribute(value=ast.Name(id="self"), attr=name)], value=value
            ):
                if _makes_set(value, results):
                    yield name
            case _:
                pass


def _functions_of_sets(tree: ast.Module) -> Iterator[str]:
    """Yield the functions of a module that are declared to return a set."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and is_set_annotation(node.returns):
            yield node.name
