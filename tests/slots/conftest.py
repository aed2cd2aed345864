"""Fixtures of the tests of slots."""

from __future__ import annotations

import pytest

from ckptsim.sim.slots.process.program import close_all


@pytest.fixture(autouse=True, scope="module")
def programs_ended():
    """End the programs that tests have started."""
    yield
    close_all()
