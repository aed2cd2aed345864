"""What tests of scenarios share: a scenario of the library, each link of the registry."""

from __future__ import annotations

import pytest

from scenarios.catalogue import all_names
from scenarios.links import LINKS


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run tests that ask for a link once for each of the registry."""
    if "link" in metafunc.fixturenames:
        metafunc.parametrize("link", LINKS.values(), ids=list(LINKS))


def any_scenario() -> str:
    """Return the name of the library's first scenario."""
    return all_names()[0]
