"""What a right core cannot prevent in a scenario: hazards of released systems (docs/hazards.md)."""

from __future__ import annotations

from ckptsim.scenarios.composed import Pipeline
from ckptsim.scenarios.generators.checkpoint_store import store_hazards_of
from ckptsim.scenarios.generators.composed import HAZARDS as OF_PIPELINES
from ckptsim.scenarios.generators.final_checkpoint import HAZARDS as OF_JOBS
from ckptsim.scenarios.generators.ordering import hazards_of
from ckptsim.scenarios.job import Job
from ckptsim.scenarios.job.names import PROPERTIES
from ckptsim.scenarios.spec import Scenario
from ckptsim.scenarios.store import StoreModel
from ckptsim.scenarios.sync import SyncModel


def hazards(scenario: Scenario) -> tuple[str, ...]:
    """Return the properties that a right core may break under the faults of a scenario."""
    match scenario.model:
        case Job(plane=plane):
            return tuple(name for name in OF_JOBS if name in PROPERTIES[plane])
        case SyncModel() as model:
            return hazards_of(model, scenario.faults)
        case StoreModel() as model:
            return store_hazards_of(model, scenario.faults)
        case Pipeline():
            return OF_PIPELINES
        case _:
            return ()
