"""Vectors of the suite `ordering`: the destination's core, its mutants, and the source model."""

from __future__ import annotations

from ckptsim.models.ordering import make_core
from ckptsim.sim.conform.ordering.destination import DestinationScript
from ckptsim.sim.conform.ordering.source import SourceScript
from ckptsim.sim.conform.runner import Adapter, Mismatch, Vector
from ckptsim.sim.mutants.ordering import VECTORS_OF, Vectors
from ckptsim.sim.slots import Factory

DESTINATION_ENGINES = ("any", "cm")


def _slot(vector: Vector) -> str | None:
    """Name the destination's core; the source is a model of ours."""
    return None if vector["engine"] == "source" else "ordering"


def _skip_reason(vector: Vector, mutant: str | None) -> str | None:
    """Say why a vector is not run: it describes another design or a known defect."""
    engine, profile = vector["engine"], vector["profile"]
    if mutant is not None:
        fit = VECTORS_OF.get(mutant, Vectors())
        if profile != fit.profile:
            return f"profile {profile}; the mutant is of profile {fit.profile}"
        if engine not in fit.engines:
            return f"engine {engine}; the mutant is for {', '.join(fit.engines)}"
        return None
    if profile != "spec":
        return f"profile {profile} describes a known defect and is for mutants"
    if engine not in (*DESTINATION_ENGINES, "source"):
        return f"engine {engine} is another design; this core counts what it reads"
    return None


def run(vector: Vector, make: Factory | None) -> Mismatch | None:
    """Run a vector on the destination's core or on the source model, by its `engine`."""
    if vector["engine"] == "source":
        return SourceScript(vector).run()
    return DestinationScript(vector, make or make_core).run()


ADAPTER = Adapter(run=run, slot=_slot, skip_reason=_skip_reason)
