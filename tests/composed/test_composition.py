"""What joins the parts of a pipeline: Protocols and public methods, and signs of life."""

from __future__ import annotations

import inspect
import json
import pkgutil
from importlib import import_module
from typing import Any

import pytest

from ckptsim.scenarios.catalogue import by_name
from ckptsim.scenarios.files import from_json, plain
from ckptsim.sim import composed
from ckptsim.sim.world import run_world


def test_no_part_of_a_pipeline_overrides_what_another_package_keeps_to_itself() -> None:
    """A class of a pipeline that derives from another package's keeps off its private methods."""
    seen, found = 0, []
    for module in pkgutil.iter_modules(composed.__path__):
        for name, kind in vars(import_module(f"{composed.__name__}.{module.name}")).items():
            if not inspect.isclass(kind) or not kind.__module__.startswith(composed.__name__):
                continue
            others = [base for base in kind.__mro__ if base.__module__.startswith("ckptsim.")]
            for base in others:
                if base.__module__.startswith(composed.__name__):
                    continue
                seen += 1
                private = {key for key in vars(base) if key.startswith("_") and key[1] != "_"}
                found += [(name, key) for key in sorted(private & set(vars(kind)))]
    assert found == []
    assert seen >= 4


@pytest.mark.parametrize("plane", ["records", "buffers"])
def test_a_job_that_works_slowly_is_not_silent(plane: str) -> None:
    """Records that take long are signs of life, also in the middle of a buffer of hundreds."""
    document: Any = plain(by_name("pipeline_buffers")) | {"faults": [], "goals": []}
    pipeline = document["pipeline"]
    pipeline["plane"] = plane
    pipeline["network"] |= {"segment_bytes": 1 << 20, "buffer_timeout_ns": 0}
    pipeline["stages"][1]["service_ns"] = 50_000_000
    pipeline["checkpointing"]["interval_ns"] = 60_000_000_000
    pipeline["checkpointing"]["first_trigger_ns"] = "none"
    pipeline["release"]["stall_limit_ns"] = 300_000_000
    result = run_world(from_json(json.dumps(document)), seed=1)
    assert result.violations == []
    assert (result.run.outcome, result.run.attempts) == ("completed", 1)
