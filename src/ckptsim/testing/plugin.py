"""The pytest plugin: the fixture `survives` and the marker `ckptsim`.

It is found by pytest wherever the package is installed, and imports nothing of it before a test
asks for the fixture.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from ckptsim.testing.survival import Survived

_MARKER = (
    "ckptsim(link, slot=None, ignore=(), properties=(), runs=200, seed=0, like_ours=False): what "
    "the fixture `survives` puts a core under; as the arguments of ckptsim.testing.assert_survives"
)

# Where it is said that a core has ended the process.
stderr = 2


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker, and keep standard error, which pytest captures from now on."""
    global stderr  # noqa: PLW0603 - of the whole process, as its end is
    stderr = os.dup(2)
    config.addinivalue_line("markers", _MARKER)


@pytest.fixture
def survives(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[..., Survived]:
    """Return `assert_survives` with what the test's marker says. Arguments of its own go first.

    The folder of a failure is made in the test's temporary one, unless `out` says where.
    """
    from ckptsim.testing.survival import assert_survives  # noqa: PLC0415 - for tests that ask

    marker = request.node.get_closest_marker("ckptsim")
    marked: dict[str, Any] = {} if marker is None else dict(marker.kwargs)
    if marker is not None and marker.args:
        (marked["link"],) = marker.args

    def check(core: Callable[..., Any] | str, *links: Any, **named: Any) -> Survived:
        given = {"out": tmp_path} | marked | ({"link": links[0]} if links else {}) | named
        if "link" not in given:
            raise pytest.UsageError(
                "survives: found no link, expected one as its second argument or that of the "
                "marker: @pytest.mark.ckptsim('ordering')"
            )
        return assert_survives(core, **given)

    return check
