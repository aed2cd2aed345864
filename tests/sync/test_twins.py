"""Every faulty twin of the core is told from the right one by a library scenario."""

import pytest

from ckptsim.scenarios.catalogue import by_name
from ckptsim.sim.twins.ordering import TWINS
from ckptsim.sim.world import run_world
from tests.sync import twin_table

MUTANTS = [name for name, twin in TWINS.items() if twin.profile == "spec"]


def test_every_mutant_has_its_scenario() -> None:
    """No mutant is left out of the table, and there are at least the fourteen known ones."""
    assert sorted(twin_table.SCENARIO_OF) == sorted(MUTANTS)
    assert len(MUTANTS) >= 14


@pytest.mark.parametrize("twin", MUTANTS)
def test_mutant_is_killed_and_the_right_core_is_not(twin: str) -> None:
    """Within a thousand seeds the twin breaks a property where the right core breaks none."""
    found = twin_table.first(twin)
    assert found is not None
    seed, _ = found
    scenario = by_name(twin_table.SCENARIO_OF[twin])
    assert run_world(scenario, seed=seed, ties="random").violations == []


@pytest.mark.parametrize("twin", MUTANTS)
def test_first_seed_is_the_one_written_down(twin: str) -> None:
    """The document's row of a twin has the seed and the property of the present program."""
    found = twin_table.first(twin)
    assert found is not None
    row = next(
        line
        for line in twin_table.DOCUMENT.read_text(encoding="utf-8").splitlines()
        if line.startswith(f"| `{twin}` |")
    )
    assert f"| {found[0]} |" in row
    assert row.endswith(f"| `{found[1]}` |")


@pytest.mark.long
def test_document_is_what_the_program_writes() -> None:
    """The whole table, with its ratios, is up to date."""
    written = twin_table.DOCUMENT.read_text(encoding="utf-8")
    assert written == twin_table.table(twin_table.kills())


@pytest.mark.parametrize(("design", "scenario"), twin_table.PUBLIC)
def test_public_design_breaks_where_its_defect_is_and_not_elsewhere(
    design: str, scenario: str
) -> None:
    """The known defects of public designs show in the simulated sync, on their scenarios alone."""
    found = twin_table.broken(design, scenario)
    expected = twin_table.PUBLIC[(design, scenario)]
    assert [name for name, _ in found.most_common(1)] == ([expected] if expected else [])
