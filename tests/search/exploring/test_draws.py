"""Everything that is drawn, how kinds have their turns, and how drawn scenarios have to end."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any, cast

import pytest

from ckptsim.scenarios.catalogue import by_name
from ckptsim.scenarios.files import plain, read
from ckptsim.scenarios.generators import GENERATORS, Choices
from ckptsim.scenarios.generators.varying import around
from ckptsim.scenarios.job import Job
from ckptsim.scenarios.job.faults import RepeatAcknowledgement
from ckptsim.scenarios.spec import Scenario
from ckptsim.scenarios.sync import (
    CountCheck,
    Medium,
    Outcome,
    RepeatIndex,
    SyncModel,
)
from ckptsim.sim.kernel import Streams
from ckptsim.sim.search.explore import run as run_module
from ckptsim.sim.search.explore.explore import evenly
from ckptsim.sim.search.explore.run import LIBRARY_EVERY
from ckptsim.sim.search.trial import Trial
from ckptsim.sim.world import run_world

_KINDS = 40


@pytest.mark.parametrize("name", ["reference", "b03_index_used_twice"])
def test_no_index_is_repeated_on_several_sockets(name: str) -> None:
    """The right core cannot tell which of two states on two sockets comes first."""
    scenario = by_name(name)
    generate, repeats = around(scenario), 0
    for number in range(400):
        drawn = generate(Choices(more=Streams(9).stream(name, number).integer))
        sockets = cast("SyncModel", drawn.model).sockets.count
        found: list[Any] = [one for one in drawn.faults if isinstance(one, RepeatIndex)]
        repeats += len(found)
        assert sockets == 1 or not found
    assert repeats > 0 or _sync(scenario).sockets.count > 1


@pytest.mark.parametrize(
    ("name", "states", "packets"), [("many_sockets", 0, 200), ("b11_global_rejects", 20, 0)]
)
def test_changes_of_sizes_leave_runs_short(name: str, states: int, packets: int) -> None:
    """Rules beside a core take long with thousands of packets, and with hundreds of states."""
    generate = around(by_name(name))
    found = []
    for number in range(600):
        sync = cast(
            "SyncModel", generate(Choices(more=Streams(9).stream(name, number).integer)).model
        )
        feeds = [(one.records, one.partition_records) for one in sync.streams]
        feeds.append((sync.source.log_records, sync.source.log_partition_records))
        packet = sync.source.packet_records
        found.append((sum(-(-a // b) for a, b in feeds), sum(-(-a // packet) for a, _ in feeds)))
    assert states < max(one for one, _ in found) <= 100
    assert packets < max(one for _, one in found) <= 2_000


@pytest.mark.parametrize("link", list(GENERATORS))
def test_what_is_drawn_is_valid(link: str) -> None:
    """Every drawn scenario can be written into a file and read again, and is the same then."""
    for drawn in _of_link(link, 150):
        assert read(plain(drawn), source=link) == drawn


def test_syncs_are_drawn_whose_platform_refuses_a_state_or_gives_up() -> None:
    """What the platform does then is looked at, and a sync that is aborted breaks nothing."""
    drawn = _of_link("ordering", 1_500)
    refusing = [one for one in drawn if _sync(one).platform.count_check is CountCheck.REJECT]
    found = [run_world(one, seed=3) for one in refusing if _sync(one).medium is Medium.STDIO]
    assert sum(run.goals["state_rejected"] > 0 for run in found) > 3
    either_way = [one for one in drawn if _sync(one).outcome is Outcome.ANY]
    runs = [run_world(one, seed=3) for one in either_way]
    assert sum(run.run.outcome == "failed" for run in runs) > 3
    for scenario, run in zip(either_way, runs, strict=True):
        assert {row.property for row in run.violations} <= set(scenario.violates)


def test_small_jobs_hear_acknowledgements_twice_and_take_inputs_in_turn() -> None:
    """What few jobs meet by themselves is drawn for one in some tens."""
    drawn = [one for one in _of_link("barriers", 400) if isinstance(one.model, Job)]
    twice = [one for one in drawn if _has(one, RepeatAcknowledgement)]
    assert len(twice) > 15
    jobs = [cast("Job", one.model) for one in drawn]
    in_turn = [job for job in jobs if any(vertex.two_input for vertex in job.vertices)]
    assert sum(job.checkpointing.unaligned for job in in_turn) > 10


def _of_link(link: str, count: int) -> list[Scenario]:
    streams = Streams(4)
    return [GENERATORS[link](Choices(more=streams.stream(link, n).integer)) for n in range(count)]


def _sync(scenario: Scenario) -> SyncModel:
    return cast("SyncModel", scenario.model)


def _has(scenario: Scenario, kind: type) -> bool:
    return any(isinstance(fault, kind) for fault in scenario.faults)


@pytest.mark.parametrize("seed", range(5))
def test_every_kind_has_its_turn(seed: int) -> None:
    """Of forty kinds none is missing from a hundred runs, and none is drawn far too often."""
    found = Counter(_first(seed, number)[2] for number in range(100))
    assert set(found) == set(range(_KINDS))
    assert max(found.values()) <= 4


def test_the_library_is_asked_every_other_time() -> None:
    """Whichever runs are looked at, one of two neighbours begins with the library."""
    from_library = [_first(3, number)[1] == LIBRARY_EVERY for number in range(120)]
    for begin in range(0, 120, LIBRARY_EVERY):
        assert sum(from_library[begin : begin + LIBRARY_EVERY]) == 1


def test_seeds_and_what_follows_are_drawn() -> None:
    """The choices of a run depend on the exploration's seed and its number alone, and differ."""
    assert _first(1, 7) == _first(1, 7)
    assert len({_first(1, number)[3] for number in range(50)}) == 50
    assert [_first(1, n)[2] for n in range(9)] != [_first(2, n)[2] for n in range(9)]


def _first(seed: int, number: int) -> tuple[int, int, int, int]:
    """Return what a run draws: its tie policy, whether of the library, its kind, its seed."""
    choose = evenly(seed, number)
    ties, drawn = choose(0, 2), choose(0, 999_999)
    return ties, choose(1, LIBRARY_EVERY), choose(0, _KINDS - 1), drawn


def test_an_attempt_that_fails_for_nothing_is_a_violation() -> None:
    """That the next attempt makes up for it does not excuse it, where scenarios are drawn."""
    failed = Trial(
        seed=0,
        ties="structural",
        outcome="completed",
        digest="",
        events=1,
        goals={"attempt_failed": 1, "attempt_failed_undisturbed": 1},
    )
    (row,) = run_module._completed(failed, either_way=True).violations
    assert row.property == "the_scenario_completes"
    excused = replace(failed, goals={"attempt_failed": 1, "attempt_failed_undisturbed": 0})
    assert run_module._completed(excused, either_way=False).violations == ()


@pytest.mark.parametrize(("either_way", "violations"), [(True, 0), (False, 1)])
def test_a_sync_that_is_given_up_is_a_violation(*, either_way: bool, violations: int) -> None:
    """A drawn sync completes, but where its scenario says that it may end in any way."""
    ended = Trial(seed=0, ties="structural", outcome="failed", digest="", events=1, goals={})
    found = run_module._completed(ended, either_way=either_way).violations
    assert len(found) == violations
