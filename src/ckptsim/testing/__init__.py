"""Tests of a protocol core of your own: `docs/testing.md` has worked examples.

    from ckptsim.testing import assert_survives

    def test_my_core():
        assert_survives("my_package.my_module:make_core", "ordering", runs=500)

`scenarios`, `workloads` and `fault_plans` are Hypothesis strategies. They and the pytest plugin
need the extra `testing`.  `serve` runs a core as a program of its own.  Each name is imported from
where it lives when it is first used: pytest imports this package whenever it starts.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ckptsim.sim.slots.process import serve
    from ckptsim.testing.strategies import fault_plans, scenarios, workloads
    from ckptsim.testing.survival import CoreConvicted, Survived, assert_survives

# Module -> the public names that it has. A test compares this with the imports above.
_HOMES = {
    "ckptsim.sim.slots.process": ("serve",),
    "ckptsim.testing.strategies": ("fault_plans", "scenarios", "workloads"),
    "ckptsim.testing.survival": ("CoreConvicted", "Survived", "assert_survives"),
}

__all__ = [
    "CoreConvicted",
    "Survived",
    "assert_survives",
    "fault_plans",
    "scenarios",
    "serve",
    "workloads",
]

if not TYPE_CHECKING:  # a type checker shall see the names above and no others

    def __getattr__(name):
        """Import a public name when it is first asked for (PEP 562)."""
        for module, names in _HOMES.items():
            if name in names:
                found = globals()[name] = getattr(import_module(module), name)
                return found
        raise AttributeError(f"module 'ckptsim.testing' has no attribute {name!r}")

    def __dir__():
        """Name what there is, whether it was imported already or not."""
        return sorted(__all__)
