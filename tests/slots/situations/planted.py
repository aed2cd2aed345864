"""Published bugs as planted cores, remedies, and how soon exploring finds them."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ckptsim.scenarios.catalogue import by_name
from ckptsim.sim.search import Subject
from ckptsim.sim.search.explore import Corpus, Explorer, Exploring, explore
from ckptsim.sim.search.trial import Trial
from tests.mutants.ordering import sources
from tests.mutants.store import fences, positions

RUNS_MAX = 100
SEEDS = 20


@dataclass(frozen=True)
class Planted:
    """A published bug as a core: its link and slot, a scenario that shows it, and its cause.

    harm: the worst property that it breaks there.  cause: is in the first lines of the story.
    """

    link: str
    slot: str
    factory: Callable[..., Any]
    scenario: str
    harm: str
    cause: str


PLANTED = {
    "airbyte_34079": Planted(
        "ordering",
        "source",
        sources.PositionOfNewestPartition,
        "position_waits_for_partitions",
        "no_record_lost",
        "state users/1 claims records",
    ),
    "airbyte_48587": Planted(
        "ordering",
        "source",
        sources.EndsWithKnownPartitions,
        "partitions_generated_late",
        "no_record_lost",
        "the source ended users though partitions were still to be generated",
    ),
    "airbyte_37389": Planted(
        "ordering",
        "source",
        sources.FailedPartitionCounts,
        "reader_fails",
        "no_record_lost",
        "the source ended users though its reader had failed",
    ),
}
PLANTED |= {
    "spark_26425_commit_log": Planted(
        "checkpoint_store",
        "fence",
        fences.CommitLogUnchecked,
        "old_owner_commits_half",
        "acknowledged_sync_survives",
        "owner 1, replaced before, writes checkpoint",
    ),
    "spark_26425_source_log": Planted(
        "checkpoint_store",
        "fence",
        fences.DataLogUnchecked,
        "old_owner_wakes",
        "durable_rows_are_the_content",
        "owner 1, replaced before, writes data",
    ),
    "same_epoch": Planted(
        "checkpoint_store",
        "fence",
        fences.SameEpoch,
        "old_owner_wakes",
        "durable_rows_are_the_content",
        "owner 1, replaced before, writes checkpoint",
    ),
}
PLANTED |= {
    "venice_2927": Planted(
        "checkpoint_store",
        "positions",
        positions.LiveFlagDecides,
        "leader_becomes_follower",
        "durable_rows_are_the_content",
        "position 880 of the remote log is kept as 880 of the local one",
    ),
    "venice_1627": Planted(
        "checkpoint_store",
        "positions",
        positions.LocalIntoRemote,
        "follower_becomes_leader",
        "durable_rows_are_the_content",
        "it subscribes to the remote log 30 entries too late",
    ),
}
REMEDIES: dict[str, tuple[str, str, Callable[..., Any]]] = {
    "low_water_mark": ("ordering", "source", sources.LowWaterMark),
    "highest_of_each": ("checkpoint_store", "positions", positions.HighestOfEach),
    "owners_in_order": ("checkpoint_store", "fence", fences.OwnersInOrder),
}


def shown(planted: Planted, *, seeds: int = 30) -> Trial | None:
    """Return the first run of a planted core's scenario that breaks its harm."""
    subject = Subject(scenario=by_name(planted.scenario), cores={planted.slot: planted.factory})
    trials = (subject.run(seed, "random") for seed in range(seeds))
    return next((t for t in trials if t.violations[:1] and _worst(t) == planted.harm), None)


def _worst(trial: Trial) -> str:
    return trial.violations[0].property


def runs_until_found(link: str, slot: str, factory: Callable[..., Any], seed: int) -> int | None:
    """Return in which explored run a core is convicted, or None within the bound."""
    report = explored(link, {slot: factory}, seed=seed, runs=RUNS_MAX * 2)
    return report.runs if report.violating else None


def median_until_found(planted: Planted) -> float:
    """Return the median over the seeds, where a seed without a find counts as twice the bound."""
    link, slot, factory = planted.link, planted.slot, planted.factory
    found = (runs_until_found(link, slot, factory, seed) for seed in range(SEEDS))
    return statistics.median(runs or RUNS_MAX * 2 for runs in found)


def explored(link: str, cores: dict[str, Any], *, seed: int, runs: int) -> Any:
    """Explore a link with some cores until one is convicted."""
    return explore(Explorer(link=link, cores=cores), Exploring(seed=seed, runs=runs), Corpus())
