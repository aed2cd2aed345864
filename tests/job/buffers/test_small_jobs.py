"""Jobs around situations of the library: what meets in one often meets in those around it, too."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import pytest

from ckptsim.models.barriers import RemoteInputChannel
from ckptsim.models.barriers.channels.network import PersisterStatus
from ckptsim.scenarios.catalogue import by_name
from ckptsim.scenarios.generators.varying import around
from ckptsim.sim.job.buffers.restoring import redistribution
from ckptsim.sim.slots import Factory
from ckptsim.sim.world import run_world
from tests.job.buffers import broken_ends
from tests.job.records.plans import Seeded

_SEEDS = range(36)
_SEEN_AT_LEAST = 12  # of these seeds
Patch = pytest.MonkeyPatch


class RemembersOlderBarriers(RemoteInputChannel):
    """Cuts what a checkpoint begins over at the place of the barrier before."""

    def _forget_barrier(self) -> None:
        if self.persister.status is PersisterStatus.COMPLETED:
            super()._forget_barrier()


def keeps_the_border_twice(patch: Patch) -> None:
    """Let the key groups of each subtask reach into the ones of the next one."""
    right = redistribution.key_group_range

    def key_group_range(subtask: int, *, max_parallelism: int, parallelism: int) -> range:
        groups = right(subtask, max_parallelism=max_parallelism, parallelism=parallelism)
        return range(groups.start, min(groups.stop + 1, max_parallelism))

    patch.setattr(redistribution, "key_group_range", key_group_range)


def nothing(patch: Patch) -> None:
    """Leave everything as it is."""
    del patch


@dataclass(frozen=True, slots=True, kw_only=True)
class Meeting:
    """A situation, a fault that shows where things meet as they do there, and what it breaks."""

    situation: str
    breaks: str
    patch: Callable[[Patch], None] = nothing
    cores: Mapping[str, Factory] = field(default_factory=dict)


MEETINGS = {
    "a checkpoint behind an aligned one begins over queued data": Meeting(
        situation="timeout_after_aligned",
        breaks="consistent_cut",
        cores={"input_channel": RemembersOlderBarriers},
    ),
    "records in flight are of the groups at a border": Meeting(
        situation="rescaled_with_hundreds_in_flight",
        breaks="restored_checkpoint_is_a_cut",
        patch=keeps_the_border_twice,
    ),
    "the last end of a channel ends an alignment": Meeting(
        situation="end_completes_alignment",
        breaks="closes_when_all_is_over",
        patch=broken_ends.closes_in_front_of_a_barrier,
    ),
}


def _broken(meeting: Meeting, seed: int, cores: Mapping[str, Factory]) -> set[str]:
    scenario = around(by_name(meeting.situation))(Seeded(seed))
    return {row.property for row in run_world(scenario, seed=seed, cores=cores).violations}


@pytest.mark.parametrize("name", MEETINGS)
def test_the_meeting_is_frequent(name: str, monkeypatch: Patch) -> None:
    """A fault that shows in this meeting alone is convicted by one of three jobs at least."""
    meeting = MEETINGS[name]
    meeting.patch(monkeypatch)
    convicted = [seed for seed in _SEEDS if meeting.breaks in _broken(meeting, seed, meeting.cores)]
    assert len(convicted) >= _SEEN_AT_LEAST


@pytest.mark.parametrize("name", MEETINGS)
def test_right_parts_hold_in_the_meeting(name: str) -> None:
    """The same jobs break nothing with our parts."""
    meeting = MEETINGS[name]
    assert [_broken(meeting, seed, {}) for seed in _SEEDS] == [set()] * len(_SEEDS)
