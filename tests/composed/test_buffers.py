"""The library of pipelines on buffers: what holds on records holds there, and what breaks."""

import pytest

from ckptsim.scenarios.catalogue import by_name
from ckptsim.sim.world import run_world
from tests.composed.plans import MS, on_buffers
from tests.composed.test_library import ANTI, SOUND
from tests.composed.test_random_pipelines import TIES

SEEDS = range(8)
# When the crash strikes that shows the loss: in front of it something was committed.
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
