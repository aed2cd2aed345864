"""Every property of a dataflow job breaks when the part that it watches is broken."""

from __future__ import annotations

from contextlib import suppress

import pytest

from ckptsim.models.core import ProtocolError
from ckptsim.scenarios.job.names import PROPERTIES
from ckptsim.scenarios.job.planes import Plane
from ckptsim.sim.job.buffers import DataflowWorld
from ckptsim.sim.job.buffers.account import FullAccount
from ckptsim.sim.job.control.faults import FaultPlan
from ckptsim.sim.kernel import Environment
from ckptsim.sim.slots import OURS
from tests.job.buffers.broken import BROKEN, Broken

# What released Flink does wrong itself; the right core shows it.
HAZARDS = {"single_channel_keeps_the_clock"}


def violated(broken: Broken, *, right: bool = False) -> set[str]:
    """Return the properties that one run breaks, with or without its broken part."""
    account = FullAccount()
    world = DataflowWorld(
        Environment(1),
        broken.model,
        protocol=OURS if right else broken.protocol,
        faults=FaultPlan(broken.faults),
        account=account,
    )
    with suppress(*(() if right else (ProtocolError,))):  # what it does to others is not asked
        world.run()
    return {name for name, *_ in account.violations}


def test_every_property_can_break() -> None:
    """There is a broken part for every property but the hazards of released Flink."""
    assert {broken.breaks for broken in BROKEN.values()} | HAZARDS == set(PROPERTIES[Plane.BUFFERS])


@pytest.mark.parametrize("name", list(BROKEN))
def test_broken_part_breaks_its_property(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The property does not hold with the broken part; with the right one all of them do."""
    broken = BROKEN[name]
    assert violated(broken, right=True) == set()
    broken.patch(monkeypatch)
    assert broken.breaks in violated(broken)
