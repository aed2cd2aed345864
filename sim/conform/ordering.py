"""Vectors of the suite `ordering`: the destination's core, its mutants, and the source model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ckptsim.models.ordering import OrderingDoor, OrderingParameters, make_core
from ckptsim.scenarios.errors import UserError
from ckptsim.sim.conform.ordering_destination import DestinationScript
from ckptsim.sim.conform.ordering_source import SourceScript
from ckptsim.sim.conform.runner import CoreFactory, Mismatch, Vector
from ckptsim.sim.mutants.ordering import MUTANTS, Mutant

DESTINATION_ENGINES = ("any", "cm")


class OrderingAdapter:
    """Runs a vector on the destination's core or on the source model, by its `engine`."""

    def skip_reason(self, vector: Vector, mutant: str | None) -> str | None:
        """Say why a vector is not run: it describes another design or a known defect."""
        engine, profile = vector["engine"], vector["profile"]
        if mutant is not None:
            faulty = _mutant(mutant)
            if profile != faulty.profile:
                return f"profile {profile}; the mutant is of profile {faulty.profile}"
            if engine not in faulty.engines:
                return f"engine {engine}; the mutant is for {', '.join(faulty.engines)}"
            return None
        if profile != "spec":
            return f"profile {profile} describes a known defect and is for mutants"
        if engine not in (*DESTINATION_ENGINES, "source"):
            return f"engine {engine} is another design; this core counts what it reads"
        return None

    def run(
        self, vector: Vector, factory: CoreFactory | None, mutant: str | None
    ) -> Mismatch | None:
        """Run one vector; see `Adapter.run`."""
        if vector["engine"] == "source":
            return SourceScript(vector).run()
        make: Callable[[OrderingParameters], OrderingDoor] | Any = factory or make_core
        if mutant is not None:
            make = _mutant(mutant).make
        return DestinationScript(vector, make).run()


def _mutant(name: str) -> Mutant:
    if name not in MUTANTS:
        raise UserError(f"--mutant: found {name!r}, expected one of {', '.join(MUTANTS)}")
    return MUTANTS[name]


ADAPTER = OrderingAdapter()
