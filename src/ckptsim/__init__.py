"""ckptsim: a deterministic discrete-event simulator of checkpoint protocols of data pipelines.

    import ckptsim as ck

    job = ck.load("job.toml")                          # a scenario: read it, change it
    result = ck.run(job, seed=7)                       # one run: rows, goals, violations
    report = ck.check(job, seeds=500)                  # many seeds and tie orders
    swept = ck.sweep(job, vary={"interval": ["2 s", "5 s"]}, seeds=5)

Every verb of the command line is a function of the same name; `docs/python.md` has worked examples.
Importing this module costs next to nothing: each name below is imported from where it lives when it
is first used, and so is what it needs (SimPy for runs; the extra `sweeps` for sweeps and frames).
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ckptsim import cores, kernel, model
    from ckptsim._api.causes import Why, why
    from ckptsim._api.jobs import advise, capture, import_job, validate, whatif
    from ckptsim._api.jobs_results import Advice, Captured, ImportedJob, Validation, WhatIf
    from ckptsim._api.pages import (
        Costs,
        Explanation,
        Listing,
        StoreContents,
        explain,
        list,  # noqa: A004 - the verb has this name
        measure_store,
        schema,
        store,
    )
    from ckptsim._api.ran import CheckReport, Find, Replay, RunResult
    from ckptsim._api.runs import check, hunt, replay, run
    from ckptsim._api.scenario import Scenario, dumps, library, load, loads, vary
    from ckptsim._api.sweeps import demo, read_sweep, read_tables, report, sweep
    from ckptsim._api.swept import Report, SweepResult
    from ckptsim._api.vectors import Conformance, Ordered, conform, order
    from ckptsim._api.viewing import View, view
    from ckptsim.scenarios import Problem, ScenarioError, UserError
    from ckptsim.sim.rows import (
        CheckpointRow,
        CommitRow,
        FigureRow,
        GroundTruth,
        KeptPartition,
        RecordRow,
        RecoveryRow,
        ReleaseRow,
        RunRow,
        TaskCheckpointRow,
        TaskRow,
        ViolationRow,
    )
    from ckptsim.sim.search import Trial

__version__ = "0.1.0"

# Module -> the public names that it has; a test compares this with the imports above.
_HOMES = {
    "ckptsim._api.causes": ("Why", "why"),
    "ckptsim._api.jobs": (
        "advise",
        "capture",
        "import_job",
        "validate",
        "whatif",
    ),
    "ckptsim._api.jobs_results": (
        "Advice",
        "Captured",
        "ImportedJob",
        "Validation",
        "WhatIf",
    ),
    "ckptsim._api.pages": (
        "Costs",
        "Explanation",
        "Listing",
        "StoreContents",
        "explain",
        "list",
        "measure_store",
        "schema",
        "store",
    ),
    "ckptsim._api.ran": (
        "CheckReport",
        "Find",
        "Replay",
        "RunResult",
    ),
    "ckptsim._api.runs": (
        "check",
        "hunt",
        "replay",
        "run",
    ),
    "ckptsim._api.scenario": (
        "Scenario",
        "dumps",
        "library",
        "load",
        "loads",
        "vary",
    ),
    "ckptsim._api.swept": (
        "Report",
        "SweepResult",
    ),
    "ckptsim._api.sweeps": (
        "demo",
        "read_sweep",
        "read_tables",
        "report",
        "sweep",
    ),
    "ckptsim._api.vectors": (
        "Conformance",
        "Ordered",
        "conform",
        "order",
    ),
    "ckptsim._api.viewing": ("View", "view"),
    "ckptsim.scenarios": (
        "Problem",
        "ScenarioError",
        "UserError",
    ),
    "ckptsim.sim.rows": (
        "CheckpointRow",
        "CommitRow",
        "FigureRow",
        "GroundTruth",
        "KeptPartition",
        "RecordRow",
        "RecoveryRow",
        "ReleaseRow",
        "RunRow",
        "TaskCheckpointRow",
        "TaskRow",
        "ViolationRow",
    ),
    "ckptsim.sim.search": ("Trial",),
}
_MODULES = (
    "cores",
    "kernel",
    "model",
)

__all__ = [
    "Advice",
    "Captured",
    "CheckReport",
    "CheckpointRow",
    "CommitRow",
    "Conformance",
    "Costs",
    "Explanation",
    "FigureRow",
    "Find",
    "GroundTruth",
    "ImportedJob",
    "KeptPartition",
    "Listing",
    "Ordered",
    "Problem",
    "RecordRow",
    "RecoveryRow",
    "ReleaseRow",
    "Replay",
    "Report",
    "RunResult",
    "RunRow",
    "Scenario",
    "ScenarioError",
    "StoreContents",
    "SweepResult",
    "TaskCheckpointRow",
    "TaskRow",
    "Trial",
    "UserError",
    "Validation",
    "View",
    "ViolationRow",
    "WhatIf",
    "Why",
    "__version__",
    "advise",
    "capture",
    "check",
    "conform",
    "cores",
    "demo",
    "dumps",
    "explain",
    "hunt",
    "import_job",
    "kernel",
    "library",
    "list",
    "load",
    "loads",
    "measure_store",
    "model",
    "order",
    "read_sweep",
    "read_tables",
    "replay",
    "report",
    "run",
    "schema",
    "store",
    "sweep",
    "validate",
    "vary",
    "view",
    "whatif",
    "why",
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
