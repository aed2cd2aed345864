"""Vectors of the suite `ordering`: the destination's core, its twins, and the source model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ckptsim.models.ordering import OrderingDoor, OrderingParameters, make_core
from ckptsim.scenarios.errors import UserError
from ckptsim.sim.conform.ordering_destination import DestinationScript
from ckptsim.sim.conform.ordering_source import SourceScript
from ckptsim.sim.conform.runner import CoreFactory, Mismatch, Vector
from ckptsim.sim.twins.ordering import TWINS, Twin

DESTINATION_ENGINES = ("any", "cm")


class OrderingAdapter:
    """Runs a vector on the destination's core or on the source model, by its `engine`."""

    def skip_reason(self, vector: Vector, twin: str | None) -> str | None:
        """Say why a vector is not run: it describes another design or a known defect."""
        engine, profile = vector["engine"], vector["profile"]
        if twin is not None:
            faulty = _twin(twin)
            if profile != faulty.profile:
                return f"profile {profile}; the twin is of profile {faulty.profile}"
            if engine not in faulty.engines:
                return f"engine {engine}; the twin is for {', '.join(faulty.engines)}"
            return None
        if profile != "spec":
            return f"profile {profile} describes a known defect and is for faulty twins"
        if engine not in (*DESTINATION_ENGINES, "source"):
            return f"engine {engine} is another design; this core counts what it reads"
        return None

    def run(self, vector: Vector, factory: CoreFactory | None, twin: str | None) -> Mismatch | None:
        """Run one vector; see `Adapter.run`."""
        if vector["engine"] == "source":
            return SourceScript(vector).run()
        make: Callable[[OrderingParameters], OrderingDoor] | Any = factory or make_core
        if twin is not None:
            make = _twin(twin).make
        return DestinationScript(vector, make).run()


def _twin(name: str) -> Twin:
    if name not in TWINS:
        raise UserError(f"--twin: found {name!r}, expected one of {', '.join(TWINS)}")
    return TWINS[name]


ADAPTER = OrderingAdapter()
