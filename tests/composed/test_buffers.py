"""The library of pipelines on buffers: what holds on records holds there, and what breaks."""

import json
from typing import Any

import pytest

from ckptsim.scenarios.catalogue import by_name
from ckptsim.scenarios.files import from_json, plain
from ckptsim.sim.job.buffers.state.identities import Identities
from ckptsim.sim.world import run_world
from tests.composed.plans import MS, on_buffers, random_pipeline
from tests.composed.test_library import ANTI, SOUND
from tests.composed.test_random_pipelines import TIES

SEEDS = range(8)
# When the crash strikes that shows the loss: before it something was committed.
CRASH_AT_NS = {"pipeline_disk_lost": 560 * MS, "pipeline_not_hooked": 560 * MS}


@pytest.mark.parametrize("name", SOUND)
def test_sound_designs_keep_their_promise(name: str) -> None:
    """Whatever fails, each record is stored, once where that is promised, and the run ends well."""
    found = [run_world(on_buffers(name), seed=s, ties=TIES[s % len(TIES)]) for s in SEEDS]
    assert [row.says for result in found for row in result.violations] == []
    assert {result.run.outcome for result in found} == {"completed"}


@pytest.mark.parametrize("name", ANTI)
def test_anti_patterns_show_what_they_break(name: str) -> None:
    """Every property that an anti-pattern is said to break is broken in some run, and no other."""
    scenario = on_buffers(name, crash_at_ns=CRASH_AT_NS.get(name))
    found = [run_world(scenario, seed=s, ties=TIES[s % len(TIES)]) for s in SEEDS]
    broken = {row.property for result in found for row in result.violations}
    assert broken == set(by_name(name).violates)


def test_what_is_restored_keeps_its_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """Records in flight come back as they were sent.

    All that was at the sender is after the others.

    It needs a restart over data in flight at both ends of one channel, which some pipelines have.
    """
    seeds = range(24)
    assert not any(_out_of_order(seed) for seed in seeds)
    right = Identities._in_flight

    def swapped(self: Identities, *arguments: Any) -> list[int]:
        records = right(self, *arguments)
        half = len(records) // 2
        return records[half:] + records[:half]

    monkeypatch.setattr(Identities, "_in_flight", swapped)
    assert sum(_out_of_order(seed) for seed in seeds) >= 3


def _out_of_order(seed: int) -> bool:
    """Tell of a pipeline that crashes while much waits for a slow sink."""
    text: Any = plain(random_pipeline(seed, "buffers"))
    text["pipeline"]["checkpointing"] |= {"mode": "unaligned", "interval_ns": 50 * MS}
    text["pipeline"]["checkpointing"] |= {"min_pause_ns": 0, "max_concurrent": 1}
    text["pipeline"]["readers"]["rate_per_s"] = "none"
    text["pipeline"]["sink"] |= {"service_ns": 10 * MS, "partitioner": "hash"}
    crash = {"kind": "crash_at", "side": "destination", "at_ns": (70 + 10 * seed % 190) * MS}
    found = run_world(from_json(json.dumps(text | {"faults": [crash]})), seed=seed)
    return "order_is_kept" in {row.property for row in found.violations}
