"""Published bugs as planted cores are found with their cause, and their remedies are clean."""

from __future__ import annotations

import pytest

from tests.slots.situations.planted import (
    PLANTED,
    REMEDIES,
    RUNS_MAX,
    explored,
    median_until_found,
    shown,
)


@pytest.mark.parametrize("name", PLANTED)
def test_a_published_bug_shows_as_harm_with_its_cause(name: str) -> None:
    """On its scenario the worst that it breaks is harm, and the story begins with the cause."""
    found = shown(PLANTED[name])
    assert found is not None
    row = found.violations[0]
    first = "\n".join([row.says, *row.story.splitlines()[:2]])
    assert PLANTED[name].cause in first, first


@pytest.mark.parametrize("name", REMEDIES)
def test_a_remedy_is_clean_in_some_runs(name: str) -> None:
    """A right core that does otherwise than ours is not convicted."""
    link, slot, factory = REMEDIES[name]
    assert not explored(link, {slot: factory}, seed=0, runs=12).violating


@pytest.mark.long
@pytest.mark.parametrize("name", PLANTED)
def test_exploring_finds_a_published_bug(name: str) -> None:
    """The median over twenty seeds is within a hundred explored runs."""
    assert median_until_found(PLANTED[name]) <= RUNS_MAX


@pytest.mark.long
@pytest.mark.parametrize("name", REMEDIES)
def test_a_remedy_is_clean(name: str) -> None:
    """A right core that does otherwise than ours is clean in five hundred runs."""
    link, slot, factory = REMEDIES[name]
    assert not explored(link, {slot: factory}, seed=1, runs=500).violating
