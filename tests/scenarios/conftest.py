"""What tests of scenarios share: a scenario of the library, each link of the registry."""

from __future__ import annotations

import pytest

from ckptsim.scenarios.catalogue import all_names
from ckptsim.scenarios.links import LINKS


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run tests that ask for a link once for each of the registry."""
    if "link" in metafunc.fixturenames:
        # Other tests add links of their own to the registry. Ours are the ones of this folder.
        ours = [
            link
            for link in LINKS.values()
            if link.model.__module__.startswith("ckptsim.scenarios.")
        ]
        metafunc.parametrize("link", ours, ids=[link.name for link in ours])


def any_scenario() -> str:
    """Return the name of the library's first scenario."""
    return all_names()[0]
