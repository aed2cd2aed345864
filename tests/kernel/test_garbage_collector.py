"""The cyclic garbage collector is paused inside the block and as it was afterwards."""

from __future__ import annotations

import gc

import pytest

from ckptsim.sim.kernel import garbage_collector_paused


def fail_inside() -> None:
    """Raise where nothing is collected."""
    with garbage_collector_paused():
        assert not gc.isenabled()
        raise ValueError("inside")


@pytest.mark.parametrize("enabled", [True, False])
def test_the_collector_is_as_it_was(enabled: bool) -> None:
    """Inside nothing is collected; afterwards it is as before, also after an error."""
    was_enabled = gc.isenabled()
    try:
        (gc.enable if enabled else gc.disable)()
        with pytest.raises(ValueError, match="inside"):
            fail_inside()
        assert gc.isenabled() is enabled
    finally:
        (gc.enable if was_enabled else gc.disable)()
