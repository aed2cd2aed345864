"""What hosts ask of the core in a slot is what the slot says, and nothing besides."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ckptsim.scenarios.catalogue import by_name
from ckptsim.sim.mutants.mutant import Mutant
from ckptsim.sim.slots import OURS, SLOTS, slots_of
from ckptsim.sim.slots.slot import Slot
from ckptsim.sim.world import WORLDS, load_world, run_world
from tests.mutants import MUTANTS

WHOLE = [slot.name for slot in SLOTS.values() if slot.whole]
# Scenarios of each link in which every core has something to do: crashes, time-outs, ends, stalls,
# sends that fail, new job managers.
SCENARIOS = {
    "ordering": (
        "reference",
        "t08_interleaved_stdio",
        "b01_send_fails",
        "t07_state_flood_blocks",
    ),
    "barriers": ("alignment_timeout", "bounded_union"),
    "barrier_protocol": (
        "flink_19681_alignment_timeout",
        "flink_23201_tracker_clock",
        "resubmitted",
        "communication_induced_crash",
    ),
    "final_checkpoint": (
        "stop_drain",
        "final_checkpoint_fails",
        "flip76_told_at_snapshot_lost",
        "given_up_checkpoint_blocks",
        "single_channel_clock",
    ),
    "checkpoint_store": ("s01_crash_between_data_first", "built_in_fallback"),
    "composed": ("pipeline", "pipeline_timed_out"),
}
CASES = [
    (slot.name, scenario)
    for link, scenarios in SCENARIOS.items()
    for slot in slots_of(link)
    if slot.protocol is not None
    for scenario in scenarios
]


class Door:
    """Shows of a core what its slot says that hosts use."""

    def __init__(self, core: Any, offers: tuple[str, ...]) -> None:
        self._core = core
        self._offers = offers

    def __getattr__(self, name: str) -> Any:
        if name not in self._offers:
            raise AttributeError(f"not offered: {name}")
        return getattr(self._core, name)


def behind_a_door(slot: Slot) -> Callable[..., Any]:
    """Return our factory, with cores that show only the slot."""
    ours = getattr(OURS, slot.name)
    return lambda *positional, **named: Door(ours(*positional, **named), slot.offers)


@pytest.mark.parametrize(("slot", "scenario"), CASES)
def test_a_world_uses_no_more_of_a_core_than_its_door(slot: str, scenario: str) -> None:
    """With nothing but the door of one core, a run is the same to the last entry."""
    subject = by_name(scenario)
    ours = run_world(subject, seed=1, ties="random")
    doors = run_world(subject, seed=1, ties="random", cores={slot: behind_a_door(SLOTS[slot])})
    assert [row.says for row in doors.violations] == [row.says for row in ours.violations]
    assert doors.run.digest == ours.run.digest
    assert doors.run.run_key != ours.run.run_key


@pytest.mark.parametrize("name", SLOTS)
def test_our_own_core_is_what_its_slot_asks_for(name: str) -> None:
    """Every default is found where the table says, and passes for a core of its slot."""
    slot = SLOTS[name]
    slot.check(slot.default(), slot.ours)
    slot.try_out(slot.default(), slot.ours, fenced=True)


@pytest.mark.parametrize("link", WORLDS)
def test_every_slot_of_a_link_is_a_field_of_its_cores(link: str) -> None:
    """A world's factories have a field for each of its slots, with our factory as default."""
    cores = load_world(link).CORES()
    for slot in slots_of(link):
        assert getattr(cores, slot.name) is slot.default()


def test_the_whole_cores_are_those_that_the_program_promises() -> None:
    """These cores can be anybody's."""
    assert WHOLE == [
        "ordering",
        "source",
        "handler",
        "coordinator",
        "lifecycle",
        "channel_state",
        "global_committer",
        "enumerator",
        "acknowledger",
        "shared_state",
        "store",
        "fence",
        "positions",
    ]


@pytest.mark.parametrize("mutant", MUTANTS.values(), ids=MUTANTS)
def test_every_mutant_says_in_one_sentence_what_is_wrong(mutant: Mutant) -> None:
    """The registry shows each mutant's fault in one short sentence."""
    assert mutant.says.endswith(".")
    assert ". " not in mutant.says
    assert len(mutant.says) <= 120
