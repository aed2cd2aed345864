"""Producers that write the log in segments, and the checkpoints that say how far each has come."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ckptsim.models.store import Parts, Placement, StoreClient, StoreVersions
from ckptsim.models.store.ingestion import PartitionIngestion
from ckptsim.models.store.medium import ModelMedium
from ckptsim.scenarios.catalogue import by_name
from ckptsim.sim.search import Subject, check


class Anonymous(PartitionIngestion):
    """Keeps no producer of a record."""

    def written(self, event):
        """Advance without the producer."""
        return super().written(replace(event, producer=None))


class Early(PartitionIngestion):
    """Starts from no producer after a restart."""

    def __init__(self, rules, restored):
        super().__init__(rules, replace(restored, producers=()))


def _with(ingestion):
    def make(placement):
        medium = ModelMedium(atomic=placement is Placement.COLOCATED)
        return StoreVersions(StoreClient(placement, medium, parts=Parts(ingestion=ingestion)))

    return make


def test_checkpoints_have_each_producer_at_its_place():
    """Our store restores each producer where its records before the checkpoint have ended."""
    report = check(Subject(scenario=by_name("two_producers")), range(10))
    assert report.passed
    assert not report.missed_goals


@pytest.mark.parametrize(("ingestion", "says"), [(Anonymous, "checkpoint"), (Early, "restored")])
def test_a_producer_that_is_lost_is_a_violation(ingestion, says):
    """A store that loses producers, when it syncs or when it restarts, breaks the checkpoint."""
    subject = Subject(scenario=by_name("two_producers"), cores={"store": _with(ingestion)})
    report = check(subject, range(1))
    row = report.unexpected[0].violations[0]
    assert row.property == "checkpoint_is_of_one_instant"
    assert says in row.says
