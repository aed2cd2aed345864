"""The reader of sources finds what makes a run depend on more than its seed, and nothing else."""

from __future__ import annotations

import pytest

from ckptsim.sim.kernel.purity import impurities
from ckptsim.sim.kernel.purity.check import Rule
from tests.kernel.declared_sets import sets_declared

IMPURE = {
    "for over a literal": "for x in {1, 2}:\n    pass\n",
    "for over a name": "def f():\n    s = set()\n    for x in s:\n        pass\n",
    "for over an argument": "def f(s: set[int]):\n    for x in s:\n        pass\n",
    "for over an optional": "def f(s: frozenset[int] | None):\n    for x in s:\n        pass\n",
    "attribute": (
        "class C:\n    def __init__(self):\n        self.s: set[int] = set()\n"
        "    def f(self):\n        return [x for x in self.s]\n"
    ),
    "dataclass field": (
        "class C:\n    s: set[int]\n    def f(self):\n        return list(self.s)\n"
    ),
    "difference": "def f(a, b):\n    for x in set(a) - set(b):\n        pass\n",
    "difference of keys": "def f(a, b):\n    for x in a.keys() - b.keys():\n        pass\n",
    "union method": "def f(a: set[int], b):\n    return tuple(a.union(b))\n",
    "result of a function": "def g() -> set[int]: ...\ndef f():\n    return list(g())\n",
    "join": "def f(a: set[str]):\n    return ','.join(a)\n",
    "pop": "def f(a: set[str]):\n    return a.pop()\n",
    "unpack": "def f(a: set[str]):\n    return [*a]\n",
    "assign": "def f(a: set[str]):\n    x, y = a\n",
    "text": "def f(a: set[str]):\n    return f'{a}'\n",
    "dict from set": "def f(a: set[str]):\n    return {x: 1 for x in a}\n",
    "min with a key": "def f(a: set[str]):\n    return min(a, key=len)\n",
    "sum of floats": "def f(a: set[float]):\n    return sum(a)\n",
    "yield from": "def f(a: set[str]):\n    yield from a\n",
    "hash": "def f(a):\n    return hash(a)\n",
    "id": "def f(a):\n    return id(a)\n",
    "random": "import random\n",
    "from random": "from random import choice\n",
    "numpy": "import numpy as np\ndef f():\n    return np.random.rand()\n",
    "seedless generator": "from numpy.random import PCG64\ndef f():\n    return PCG64()\n",
    "from numpy": "from numpy.random import default_rng\n",
    "clock": "from time import perf_counter\n",
    "datetime": "from datetime import datetime\nx = datetime.now()\n",
    "datetime module": "import datetime as dt\nx = dt.datetime.now()\n",
    "entropy": "import os\nx = os.urandom(8)\n",
    "thread": "import threading\n",
}

PURE = {
    "sorted": "def f(a: set[str]):\n    for x in sorted(a):\n        pass\n",
    "sorted generator": "def f(a: set[str]):\n    return sorted(x for x in a if x)\n",
    "membership": "def f(a: set[str], b):\n    return b in a and len(a) and any(x for x in a)\n",
    "set from set": "def f(a: set[str]):\n    return {x for x in a}\n",
    "dict": "def f(a: dict[str, int]):\n    for x in a:\n        pass\n",
    "list of the name of a set elsewhere": (
        "def g():\n    s = {1}\n    return 1 in s\n"
        "def f(s: list[int]):\n    for x in s:\n        pass\n"
    ),
    "numbers": "def f(a: int, b: int):\n    return list(range(a - b))\n",
    "hash method": "class C:\n    def __hash__(self):\n        return hash((1, 2))\n",
    "seeded generator": "from numpy.random import PCG64, SeedSequence\n",
    "a given instant": "from datetime import datetime\nx = datetime(2020, 1, 1)\n",
    "waived": "def f(a: set[int]):\n    for x in a:  # pure: only counts\n        pass\n",
    "pop of a list": "def f(a: list[int]):\n    return a.pop()\n",
}


@pytest.mark.parametrize("name", IMPURE)
def test_an_impurity_is_found(name):
    """Each impure snippet has exactly one finding, with a line and advice."""
    found = impurities(IMPURE[name])
    assert len(found) == 1, found
    assert ":" in found[0].says


@pytest.mark.parametrize("name", PURE)
def test_what_is_pure_is_left_alone(name):
    """No snippet of sound code has a finding."""
    assert impurities(PURE[name]) == []


def test_rules_can_be_chosen():
    """Asking for one rule leaves the others out."""
    source = "import random\nfor x in {1}:\n    pass\n"
    assert [i.rule for i in impurities(source, [Rule.RANDOM])] == [Rule.RANDOM]


def test_sets_that_other_modules_declare_are_known():
    """An attribute or a result that some module declares as a set is one wherever it is used."""
    there = (
        "class A:\n    open: set[int]\n    rows: list[int]\n"
        "    def free(self) -> frozenset[str]: ...\n"
    )
    known = sets_declared([there])
    assert known == {"open", "free"}
    uses = ["x in a.open", "sorted(a.free())", "[x for x in a.rows]"]
    assert not impurities("\n".join(uses), sets_elsewhere=known)
    for use in ("for x in a.open: pass", "list(a.free())", "list(free())", "a.b.open.pop()"):
        assert len(impurities(use, sets_elsewhere=known)) == 1, use
    assert sets_declared([there, "class B:\n    open: bool\n"]) == {"free"}
