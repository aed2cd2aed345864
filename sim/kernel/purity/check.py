"""Read one module and list its impurities."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from ckptsim.sim.kernel.purity.sets import SetVisitor

_STREAM = "use a named stream of the environment"
_NOW = "use the environment's time, or take it from the event"
_NAME = "use a name, a number or a keyed hash"

# Module -> (rule, what to do instead). `import` of these is refused as a whole.
_MODULES = {
    "random": ("random", _STREAM),
    "secrets": ("random", _STREAM),
    "uuid": ("random", _STREAM),
    "time": ("clock", _NOW),
    "threading": ("outside", "start a process on the environment"),
    "multiprocessing": ("outside", "start a process on the environment"),
    "asyncio": ("outside", "start a process on the environment"),
    "socket": ("outside", "use a channel of the simulation"),
}
# Dotted name -> (rule, what to do instead).
_CALLS = {
    "os.urandom": ("random", _STREAM),
    "os.getrandom": ("random", _STREAM),
    "os.environ": ("outside", "pass it as a parameter"),
    "os.getenv": ("outside", "pass it as a parameter"),
    **{
        f"{module}{kind}": ("clock", _NOW)
        for module in ("", "datetime.")
        for kind in ("datetime.now", "datetime.utcnow", "datetime.today", "date.today")
    },
}
_NUMPY_CLASSES = frozenset(
    {"BitGenerator", "Generator", "PCG64", "PCG64DXSM", "Philox", "SFC64", "SeedSequence"}
)
_BUILTINS = {"hash": _NAME, "id": _NAME}


class CallVisitor(ast.NodeVisitor):
    """Collects `(line, rule, sentence)` over one module."""

    def __init__(self, tree: ast.Module) -> None:
        self.found: list[tuple[int, str, str]] = []
        self._aliases: dict[str, str] = {}  # name in the module -> dotted name it represents
        self.visit(tree)

    def visit_Import(self, node: ast.Import) -> None:
        """Refuse whole modules and remember what others are called here."""
        for alias in node.names:
            root = alias.name.partition(".")[0]
            self._aliases[alias.asname or root] = alias.name if alias.asname else root
            if alias.name in _MODULES:
                self._refuse_module(node, alias.name)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        """Refuse names taken from such modules."""
        module = node.module or ""
        if module in _MODULES and node.level == 0:
            self._refuse_module(node, module)
        for alias in node.names:
            dotted = f"{module}.{alias.name}"
            self._aliases[alias.asname or alias.name] = dotted
            if dotted in _CALLS:
                self._refuse(node, dotted)
            elif module == "numpy.random" and alias.name not in _NUMPY_CLASSES:
                self._note(node, "random", f"{dotted} is global randomness: {_STREAM}")

    def visit_Call(self, node: ast.Call) -> None:
        """Refuse `hash(...)` and `id(...)`, except for the `hash` of a `__hash__` method."""
        if isinstance(node.func, ast.Name) and node.func.id in _BUILTINS:
            name = node.func.id
            if name not in self._aliases:
                says = f"{name}() differs from process to process: {_BUILTINS[name]}"
                self._note(node, "hash", says)
        dotted = self._dotted(node.func)
        seedless = not node.args and not node.keywords
        if dotted.removeprefix("numpy.random.") in _NUMPY_CLASSES and seedless:
            self._note(node, "random", f"{dotted}() takes its seed from the system: {_STREAM}")
        self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        """Leave `__hash__` alone: it serves dictionaries in the order of insertion."""
        if node.name != "__hash__":
            self.generic_visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        """Refuse dotted names that read the real world."""
        dotted = self._dotted(node)
        if dotted in _CALLS:
            self._refuse(node, dotted)
        elif dotted.startswith("numpy.random.") and dotted.split(".")[2] not in _NUMPY_CLASSES:
            self._note(node, "random", f"{dotted} is global randomness: {_STREAM}")
        else:
            self.generic_visit(node)

    def _dotted(self, node: ast.expr) -> str:
        if isinstance(node, ast.Attribute):
            inner = self._dotted(node.value)
            return f"{inner}.{node.attr}" if inner else ""
        return self._aliases.get(node.id, "") if isinstance(node, ast.Name) else ""

    def _refuse_module(self, node: ast.stmt, module: str) -> None:
        rule, instead = _MODULES[module]
        self._note(node, rule, f"module {module} reaches outside the run: {instead}")

    def _refuse(self, node: ast.stmt | ast.expr, dotted: str) -> None:
        rule, instead = _CALLS[dotted]
        self._note(node, rule, f"{dotted} reaches outside the run: {instead}")

    def _note(self, node: ast.stmt | ast.expr, rule: str, says: str) -> None:
        self.found.append((node.lineno, rule, says))


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

    sets_elsewhere: attributes and functions that other modules declare as sets.
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
