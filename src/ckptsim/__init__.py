"""ckptsim: a deterministic discrete-event simulator of checkpoint protocols of data pipelines.

    import ckptsim

    result = ckptsim.run("reference", seed=7)          # one run: rows, goals, violations
    report = ckptsim.check("reference", seeds=500)     # many seeds and tie orders
    tables = ckptsim.read_tables("out/uploads")        # what a sweep has written

`docs/python.md` has worked examples.  Importing this module costs next to nothing: each name below
is imported from where it lives when it is first used, and so is what it needs (SimPy for runs; the
extra `sweeps` for `sweep` and `read_tables`).
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ckptsim import cores, kernel
    from ckptsim._runs import check, hunt, run
    from ckptsim._scenarios import dumps, library, load, loads, vary
    from ckptsim._sweeps import SweepResult, read_tables, sweep
    from ckptsim.scenarios import Problem, Scenario, ScenarioError, UserError
    from ckptsim.sim.rows import (
        CheckpointRow,
        CommitRow,
        FigureRow,
        GroundTruth,
        KeptPartition,
        RecordRow,
        RecoveryRow,
        ReleaseRow,
        RunResult,
        RunRow,
        TaskCheckpointRow,
        TaskRow,
        ViolationRow,
    )
    from ckptsim.sim.search import CheckReport, Find, Trial

__version__ = "0.1.0"

# Module -> the public names that it has; a test compares this with the imports above.
_HOMES = {
    "ckptsim._runs": ("check", "hunt", "run"),
    "ckptsim._scenarios": ("dumps", "library", "load", "loads", "vary"),
    "ckptsim._sweeps": ("SweepResult", "read_tables", "sweep"),
    "ckptsim.scenarios": ("Problem", "Scenario", "ScenarioError", "UserError"),
    "ckptsim.sim.rows": (
        "CheckpointRow",
        "CommitRow",
        "FigureRow",
        "GroundTruth",
        "KeptPartition",
        "RecordRow",
        "RecoveryRow",
        "ReleaseRow",
        "RunResult",
        "RunRow",
        "TaskCheckpointRow",
        "TaskRow",
        "ViolationRow",
    ),
    "ckptsim.sim.search": ("CheckReport", "Find", "Trial"),
}
_MODULES = ("cores", "kernel")

__all__ = [
    "CheckReport",
    "CheckpointRow",
    "CommitRow",
    "FigureRow",
    "Find",
    "GroundTruth",
    "KeptPartition",
    "Problem",
    "RecordRow",
    "RecoveryRow",
    "ReleaseRow",
    "RunResult",
    "RunRow",
    "Scenario",
    "ScenarioError",
    "SweepResult",
    "TaskCheckpointRow",
    "TaskRow",
    "Trial",
    "UserError",
    "ViolationRow",
    "__version__",
    "check",
    "cores",
    "dumps",
    "hunt",
    "kernel",
    "library",
    "load",
    "loads",
    "read_tables",
    "run",
    "sweep",
    "vary",
]

if not TYPE_CHECKING:  # a type checker shall see the names above and no others

    def __getattr__(name):
        """Import a public name when it is first asked for (PEP 562)."""
        if name in _MODULES:
            return import_module(f"ckptsim.{name}")
        for module, names in _HOMES.items():
            if name in names:
                found = globals()[name] = getattr(import_module(module), name)
                return found
        raise AttributeError(f"module 'ckptsim' has no attribute {name!r}")

    def __dir__():
        """Name what `ckptsim` has to offer, whether it was imported already or not."""
        return sorted(__all__)
