"""Our own cores, given as a user's, are clean in every slot, in every form and for every verb."""

from __future__ import annotations

from pathlib import Path

import pytest

from ckptsim.scenarios.catalogue import all_scenarios, by_name
from ckptsim.scenarios.job import Protocol
from ckptsim.sim.cli import main
from ckptsim.sim.judging import Judging
from ckptsim.sim.search import Subject
from ckptsim.sim.slots import slots_of
from ckptsim.sim.slots.resolve import compared
from ckptsim.testing import assert_survives
from tests.slots.own import LINKS, texts

VERBS = ("check", "explore", "hunt", "replay", "survives")
SLOTS_OF = {link: [slot.name for slot in slots_of(by_name(LINKS[link]).world)] for link in LINKS}
ALONE = [
    (link, slot, form) for link, slots in SLOTS_OF.items() for slot in slots for form in texts(slot)
]
TOGETHER = [(link, form) for link in LINKS for form in ("class", "wrapper", "program")]


def _options(link: str, slots: list[str], form: str) -> list[str]:
    """Return the options that put our cores in the form there is into these slots."""
    words: list[str] = []
    for slot in slots:
        forms = texts(slot)
        words += ["--core", f"{slot}={forms.get(form, forms['class'])}"]
    return words if not set(slots) <= set(compared(link)) else [*words, "--like-ours"]


def _clean(verb: str, link: str, slots: list[str], form: str, *, runs: int) -> None:
    """Run a verb with our cores in some slots, and expect that it finds nothing."""
    cores, scenario = _options(link, slots, form), LINKS[link]
    if verb == "check":
        assert main(["check", scenario, "--seeds", str(runs), *cores]) == 0
    elif verb == "explore":
        assert main(["check", link, "--explore", "--runs", str(runs), *cores]) == 0
    elif verb == "hunt":
        faults = [] if link == "composed" else ["--faults", "2"]
        assert main(["hunt", scenario, "--seeds", str(runs), *faults, *cores]) == 0
    elif verb == "replay":
        assert main(["replay", scenario, "--lines", "1", *cores]) == 0
    else:
        for slot in slots:
            assert_survives(
                texts(slot)[form], link, slot=slot, runs=runs, like_ours=slot in compared(link)
            )


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("link", LINKS)
def test_our_own_cores_together_are_clean(link: str) -> None:
    """After wrappers in all slots of a link at once, they pass `check` and exploring."""
    for verb in ("check", "explore"):
        _clean(verb, link, SLOTS_OF[link], "wrapper", runs=2)


@pytest.mark.parametrize(("link", "slot"), [(k, s) for k, slots in SLOTS_OF.items() for s in slots])
def test_our_own_core_alone_is_clean_in_exploring_runs(link: str, slot: str) -> None:
    """In one slot at a time no host and no other core misses anything."""
    _clean("explore", link, [slot], "wrapper", runs=2)


@pytest.mark.long
@pytest.mark.parametrize(("link", "slot", "form"), ALONE)
@pytest.mark.parametrize("verb", VERBS)
def test_our_own_core_is_clean(verb: str, link: str, slot: str, form: str) -> None:
    """One slot at a time, in every form, for every verb."""
    _clean(verb, link, [slot], form, runs=12)


@pytest.mark.long
@pytest.mark.parametrize(("link", "form"), TOGETHER)
@pytest.mark.parametrize("verb", VERBS[:-1])
def test_all_of_our_own_cores_are_clean(verb: str, link: str, form: str) -> None:
    """All slots at once, in every form there is, for every verb that takes several."""
    _clean(verb, link, SLOTS_OF[link], form, runs=12)


@pytest.mark.long
@pytest.mark.parametrize("like_ours", [False, True])
def test_every_scenario_is_the_same_run_with_our_own_cores_in_wrappers(like_ours: bool) -> None:
    """Digest and violations of the library do not depend on the owner of the cores.

    A job that ends by the naive protocol has the naive lifecycle in place of ours alone.
    """
    for scenario in all_scenarios():
        ending = getattr(scenario.model, "ending", None)
        if ending is not None and ending.protocol is Protocol.NAIVE:
            continue
        slots = [slot.name for slot in slots_of(scenario.world)]
        if like_ours:
            slots = [slot for slot in slots if slot in compared(scenario.link)]
        cores = {slot: texts(slot)["wrapper"] for slot in slots}
        theirs = Subject(scenario=scenario, cores=cores, judging=Judging(like_ours=like_ours)).run(
            1, "random"
        )
        ours = Subject(scenario=scenario).run(1, "random")
        assert theirs.run.digest == ours.run.digest, scenario.name
        found, expected = theirs.violations, ours.violations
        assert [row.says for row in found] == [row.says for row in expected], scenario.name
