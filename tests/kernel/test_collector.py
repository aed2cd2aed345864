"""The cyclic collector rests inside and is as it was behind."""

from __future__ import annotations

import gc

import pytest

from ckptsim.sim.kernel import uncollected


def fail_inside() -> None:
    """Raise where nothing is collected."""
    with uncollected():
        assert not gc.isenabled()
        raise ValueError("inside")


@pytest.mark.parametrize("enabled", [True, False])
def test_the_collector_is_as_it_was(enabled: bool) -> None:
    """Inside nothing is collected; behind it is again as before, also behind an error."""
    was_enabled = gc.isenabled()
    try:
        (gc.enable if enabled else gc.disable)()
        with pytest.raises(ValueError, match="inside"):
            fail_inside()
        assert gc.isenabled() is enabled
    finally:
        (gc.enable if was_enabled else gc.disable)()
