"""Drawn faults: every kind, where the scenario has something, when something happens in it."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from ckptsim.scenarios import LINKS
from ckptsim.scenarios.catalogue import by_name
from ckptsim.scenarios.files import loads
from ckptsim.scenarios.planning import with_parameters
from ckptsim.sim.cli.main import EXIT_FINE, main
from ckptsim.sim.search import Subject
from ckptsim.sim.search.faults import RESTARTS, FaultDraw, rehearse
from ckptsim.sim.search.hunt import without_hazards
from ckptsim.sim.search.trial import trial
from ckptsim.sim.world import run_world
from tests.search.toy import Producer, Slow

# Per link scenarios that have among them what its kinds of faults need.
# Splits and global committers are of records, and a storage that takes its time of buffers.
_OF_A_PLANE = ("split_lost_in_a_call", "committed_after_rescale", "storage_has_bad_times")
_SHOWN = {
    "ordering": ("reference", "stdio_sync"),
    "barriers": ("back_pressure_unaligned", *_OF_A_PLANE),
    "barrier_protocol": ("rescale_keyed", *_OF_A_PLANE),
    "final_checkpoint": ("final_chain_unaligned", *_OF_A_PLANE),
    "checkpoint_store": (
        "half_written_checkpoint",
        "dictionary_outage",
        "leader_becomes_follower",
    ),
    "composed": ("pipeline_group",),
}
# No design outlives them: a position that is someone else's, a log without its tail.
_HOSTILE = {
    "checkpoint_store": {"foreign_commit", "truncate_log"},
    "composed": {"foreign_commit"},
}
_MINE = """
name = "mine"
link = "barrier_protocol"
says = "a keyed count behind a source, with unaligned checkpoints"

[job]
checkpointing = { mode = "unaligned", interval = "10 ms" }
vertices = [
    { name = "source", kind = "source", parallelism = 2, rate = "2000 /s", records = 100 },
    { name = "count", parallelism = 2, inputs = [{ upstream = "source" }], service = "2 ms" },
]
"""


@pytest.mark.parametrize("link", list(_SHOWN))
def test_every_kind_is_drawn(link: str) -> None:
    """In 2,000 draws each kind of fault occurs, except for those that no design outlives."""
    found: Counter[str] = Counter()
    left_out: set[str] = set(LINKS[link].faults)
    for name in _SHOWN[link]:
        draw = FaultDraw(by_name(name), most=3)
        for seed in range(2_000 // len(_SHOWN[link])):
            draw.of_seed(seed)
        found.update(draw.tally.drawn)
        left_out &= set(draw.tally.left_out)
        assert draw.tally.refused == {}
    assert set(found) == set(LINKS[link].faults) - _HOSTILE.get(link, set())
    assert left_out == _HOSTILE.get(link, set())
    assert min(found.values()) > 10


def test_half_of_the_instants_are_near_events() -> None:
    """Faults strike over the whole run, and half of them where something happens in it."""
    scenario = by_name("keyed_crash")
    known = rehearse(scenario)
    at_events = {at_ns for instants in known.instants for at_ns in instants}
    draw = FaultDraw(scenario, most=1)
    drawn = [draw.of_seed(seed).faults[-1] for seed in range(1_500)]
    instants = [one.at_ns for one in map(_any, drawn) if hasattr(one, "at_ns")]
    early = sum(at_ns < known.ended_ns // 4 for at_ns in instants)
    late = sum(at_ns > known.ended_ns * 3 // 4 for at_ns in instants)
    assert min(early, late) > len(instants) // 10
    assert sum(at_ns in at_events for at_ns in instants) > len(instants) // 10


def test_a_job_that_is_not_restarted_by_default_is_in_a_hunt() -> None:
    """Its drawn failures are followed by restores, and the hunt says so. A strategy is kept."""
    scenario = loads(_MINE.replace("barrier_protocol", "barriers"), source="mine.toml")
    draw = FaultDraw(scenario, most=3)
    runs = [run_world(draw.of_seed(seed), seed=seed).run for seed in range(12)]
    assert {run.outcome for run in runs} == {"completed"}
    assert sum(run.attempts > 1 for run in runs) > 3
    assert ("restart", RESTARTS) in draw.tally.rows()
    own = with_parameters(scenario, {"job.restart": {"kind": "fixed_delay"}})
    kept = FaultDraw(own, most=3)
    assert kept.of_seed(1).model == own.model
    assert kept.tally.document().keys() == {"drawn", "refused", "left_out"}
    assert FaultDraw(scenario, most=0).of_seed(1) == scenario


def _any(value: object) -> Any:
    return value


def test_what_is_drawn_depends_on_the_seed_alone() -> None:
    """Two draws of a scenario give the same faults for a seed, in whatever order they are asked."""
    scenario = by_name("reference")
    one, other = FaultDraw(scenario, most=4), FaultDraw(scenario, most=4)
    backwards = [other.of_seed(seed).faults for seed in reversed(range(40))]
    assert [one.of_seed(seed).faults for seed in range(40)] == backwards[::-1]


def test_a_fault_that_does_not_fit_is_counted(toy) -> None:  # type: ignore[no-untyped-def]
    """One that the model refuses is drawn again, and the count has its kind and the problem."""
    draw = FaultDraw(toy(producers=(Producer(items=40),)), most=3)
    for seed in range(60):
        faults: list[Any] = list(draw.of_seed(seed).faults)
        assert all(one.producer == 0 for one in faults if isinstance(one, Slow))
    assert draw.tally.refused["slow"] > 0
    expected = "expected the index of a producer"
    assert draw.tally.because["slow"].endswith(expected)
    assert draw.tally.document()["refused"]["slow"]["because"].endswith(expected)


@pytest.mark.parametrize("mutant", ["keeps_every_copy", "write_error_lost", "permutes_subtasks"])
def test_planted_faults_of_a_users_job_are_found(mutant: str) -> None:
    """A fault that shows when in-flight data is written or restored is found in 300 runs."""
    scenario = loads(_MINE, source="mine.toml")
    draw = FaultDraw(scenario, most=3)
    for seed in range(300):
        here = Subject(scenario=draw.of_seed(seed), mutant=mutant)
        if without_hazards(here, trial(here, seed, "random")).violations:
            return
    pytest.fail(f"{mutant} was not found")


def test_our_cores_survive_drawn_faults_of_a_users_job() -> None:
    """Everything that is drawn breaks no property where no core is faulty."""
    draw = FaultDraw(loads(_MINE, source="mine.toml"), most=3)
    for seed in range(25):
        here = Subject(scenario=draw.of_seed(seed))
        assert without_hazards(here, trial(here, seed, "random")).violations == ()


def test_a_hazard_is_passed_over_and_a_faulty_core_is_not() -> None:
    """What our own core breaks in the same run, as released Flink does, convicts no other core."""
    subject = Subject(scenario=by_name("stop_overtaken_at_once"))
    runs = [trial(subject, seed, "random") for seed in range(30)]
    found = next(run for run in runs if run.violations)
    assert {row.property for row in found.violations} == {"stop_ends"}
    assert without_hazards(subject, found).violations == ()
    # A core that breaks it at a seed at which ours does not is a faulty one.
    quiet = next(run.seed for run in runs if not run.violations)
    theirs = replace(found, seed=quiet)
    assert without_hazards(replace(subject, mutant="drops_markers"), theirs) == theirs


def test_hunt_shows_what_was_drawn(capsys: pytest.CaptureFixture[str]) -> None:
    """The result has the drawn and refused faults by kind, and those never drawn."""
    words = ["hunt", "snapshot_fails", "--seeds", "3", "--faults", "2"]
    assert main(words) == EXIT_FINE
    shown = capsys.readouterr().out
    assert "faults of" in shown
    assert "refused: 0" in shown
    assert "fail_channel_state: needs checkpoints with in-flight data (unaligned)" in shown
    assert main([*words, "--json"]) == EXIT_FINE
    faults = json.loads(capsys.readouterr().out)["faults"]
    assert sum(faults["drawn"].values()) >= 3
    assert faults["refused"] == {}
    of_situations, of_storage = ["delay_precommit", "lose_split"], ["fail_storage", "slow_storage"]
    left_out = sorted(["fail_channel_state", *of_situations, *of_storage])
    assert list(faults["left_out"]) == left_out
    assert main(words[:4]) == EXIT_FINE
    assert "drawn" not in capsys.readouterr().out
