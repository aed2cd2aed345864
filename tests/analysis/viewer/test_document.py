"""What the page of a run is made of."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ckptsim.analysis.templates import script
from ckptsim.analysis.viewer import view_of_find, view_of_recording, view_of_run, view_page
from ckptsim.analysis.viewer.page import MODULES
from ckptsim.scenarios import UserError
from ckptsim.scenarios.catalogue import all_scenarios, by_name
from ckptsim.sim.infer.folder import place_named
from ckptsim.sim.search import Subject
from ckptsim.sim.search.folder import Kept

MIB = 1 << 20


def viewed(name: str, **options: Any) -> dict[str, Any]:
    """Return the data of a run of a scenario of the library."""
    return view_of_run(Subject(scenario=by_name(name)), **options)


def test_a_barrier_is_linked_to_the_sender_of_its_channel() -> None:
    """Each arrival of a barrier has as a cause that its sender sent it, not later."""
    found = viewed("back_pressure_aligned")
    kinds, events = [kind for kind, *_ in found["kinds"]], found["events"]
    arrivals = [n for n, event in enumerate(events) if kinds[event[1]] == "barrier"]
    causes = {effect: cause for cause, effect, _ in found["links"] if effect in arrivals}
    sent = {n for n, event in enumerate(events) if kinds[event[1]] == "sent_barrier"}
    linked = {effect for cause, effect, _ in found["links"] if cause in sent}
    assert arrivals
    assert set(arrivals) <= linked
    assert all(events[cause][0] <= events[effect][0] for effect, cause in causes.items())


def test_the_slowest_checkpoint_is_selected_with_its_cause() -> None:
    """Without a number the page begins with the slowest checkpoint and says why it was slow."""
    found = viewed("back_pressure_aligned")
    slowest = max(found["checkpoints"], key=lambda row: row["took"])
    assert found["selected"] == slowest["key"]
    assert "slow[" in " ".join(found["causes"][slowest["key"]]["lines"])
    assert viewed("back_pressure_aligned", checkpoint=3)["selected"] == "3"


def test_states_of_a_sync_are_told_apart_by_scope_and_attempt() -> None:
    """Each state of each attempt has a key of its own, and where its time went."""
    found = viewed("reference")
    keys = [row["key"] for row in found["checkpoints"]]
    assert len(set(keys)) == len(keys) > 8
    assert any("/" in key and "@2" in key for key in keys)
    assert "waited" in " ".join(found["causes"][found["selected"]]["lines"])


def test_a_recording_shows_the_parts_of_its_subtasks() -> None:
    """A recording has no events, but the parts of subtasks, a graph and causes."""
    found = view_of_recording(place_named("orders"), checkpoint=17)
    assert not found["events"]
    assert len(found["parts"][17]) == len(found["lanes"]) - 1
    assert {vertex["name"] for vertex in found["groups"]["vertices"]} >= {"join", "enrich"}
    assert found["causes"]["17"]["lines"]


def test_a_find_begins_with_its_violation() -> None:
    """The page of a find has the violated property, and a story."""
    subject = Subject(scenario=by_name("reference"), mutant="no_ordering")
    result = subject.run(0, "structural", keep_trace=True)
    row = result.violations[0]
    kept = Kept(
        subject=subject, seed=0, ties="structural", property=row.property, says=row.says, digest=""
    )
    found = view_of_find(kept)
    assert row.property in found["title"]
    assert found["violations"][0]["story"]


def test_a_checkpoint_that_is_not_there_is_refused() -> None:
    """A number that the run does not have is refused with those that it has."""
    with pytest.raises(UserError, match="found no checkpoint 99, expected one from 1 to 8"):
        viewed("back_pressure_aligned", checkpoint=99)


@pytest.mark.parametrize("link", sorted({scenario.link for scenario in all_scenarios()}))
def test_pages_are_small_and_ask_for_nothing(link: str) -> None:
    """The page of a scenario of each link is below 1 MB, and names no address to load from."""
    name = next(scenario.name for scenario in all_scenarios() if scenario.link == link)
    page = view_page([viewed(name)])
    assert len(page.encode()) < MIB
    assert "default-src 'none'" in page
    assert 'src="' not in page
    assert "@import" not in page


def test_text_of_a_scenario_cannot_end_the_script() -> None:
    """What a scenario says is in the data, however it looks."""
    found = viewed("reference") | {"says": "</script><script>alert(1)</script>"}
    page = view_page([found])
    assert "alert(1)</script>" not in page
    data = page.split('id="data">')[1].split("</script>")[0]
    assert json.loads(data)[0]["says"] == found["says"]


def test_modules_share_no_name() -> None:
    """No two modules of the page declare one name: bundled they are one script."""
    folder = Path(view_of_run.__globals__["__file__"]).parents[1] / "templates" / "view"
    assert sorted(f"{name}.js" for name in MODULES) == sorted(p.name for p in folder.iterdir())
    lines = script(MODULES).splitlines()
    declared = [
        line.split("(")[0].split("=")[0].split()[1]
        for line in lines
        if line.startswith(("function ", "const ", "class "))
    ]
    assert len(set(declared)) == len(declared)
    assert not any(line.startswith(("import ", "export ")) for line in lines)


@pytest.mark.long
@pytest.mark.parametrize("name", [scenario.name for scenario in all_scenarios()])
def test_every_scenario_has_a_small_page(name: str) -> None:
    """The page of each scenario of the library is below 1 MB."""
    assert len(view_page([viewed(name)]).encode()) < MIB
