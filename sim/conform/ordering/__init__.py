"""Vectors of the suite `ordering`: the destination's core, its mutants, and the source's core."""

from __future__ import annotations

from ckptsim.models.ordering import Refusal, make_core
from ckptsim.models.ordering.source import SourceCore
from ckptsim.sim.conform.ordering.destination import DestinationScript
from ckptsim.sim.conform.ordering.source import SourceScript
from ckptsim.sim.conform.runner import Adapter, Mismatch, Step, Vector, allowed_errors
from ckptsim.sim.mutants.registry import find_mutant
from ckptsim.sim.slots import Factory

DESTINATION_ENGINES = ("any", "cm")
# Steps that look into our core, and events that no host sends.
_LOOKS = (
    "expect_persisted",
    "expect_read",
    "expect_key",
    "expect_stream_done",
    "expect_result",
)
_NEVER_SENT = ("mark_succeeded", "mark_failed")


def _slot(vector: Vector) -> str | None:
    """Name the core that a vector is about."""
    return "source" if vector["engine"] == "source" else "ordering"


def _skip_reason(vector: Vector, mutant: str | None) -> str | None:
    """Say why a vector is not run: it describes another design or a known defect."""
    engine, profile = vector["engine"], vector["profile"]
    if mutant is not None:
        fit = find_mutant(["suite ordering"], mutant)
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


def _for_hosts(vector: Vector) -> tuple[Vector | None, tuple[str, ...]]:
    """Return a vector without the steps that no host takes, and name the rest out.

    A host announces each stream, and refuses one that it does not know before its core sees it.
    """
    found = dict.fromkeys(step["op"] for step in vector["steps"])
    sent = tuple(name for name in found if name in _NEVER_SENT)
    if sent:
        return None, sent
    left = [(step, _left_out(step)) for step in vector["steps"]]
    names = dict.fromkeys(name for _, name in left if name is not None)
    return vector | {"steps": [step for step, name in left if name is None]}, tuple(names)


def _left_out(step: Step) -> str | None:
    """Name what no host asks by a step, None where one does."""
    if allowed_errors(step) == [Refusal.UNKNOWN_STREAM]:
        return f"{step['op']} of an {Refusal.UNKNOWN_STREAM}"
    return step["op"] if step["op"] in _LOOKS else None


def run(vector: Vector, make: Factory | None) -> Mismatch | None:
    """Run a vector on the destination's or the source's core, by its `engine`."""
    if vector["engine"] == "source":
        return SourceScript(vector, make or SourceCore).run()
    return DestinationScript(vector, make or make_core).run()


ADAPTER = Adapter(run=run, slot=_slot, skip_reason=_skip_reason, for_hosts=_for_hosts)
