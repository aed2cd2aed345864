"""How long records are: as their vertex or edge says, all alike or about a mean."""

from __future__ import annotations

import pytest

from ckptsim.scenarios.job import Checkpointing, Engine, Input, Mode, Network
from tests.job.buffers.test_words import MS, chain, processed, ran


def test_records_have_the_size_of_their_vertex() -> None:
    """Data in flight before a slow operator is whole records of the sender's size."""
    network = Network(record_bytes=1000)
    model = chain(
        source={"parallelism": 1},
        middle={"parallelism": 1, "record_bytes": 3000, "service_ns": 0},
        last={"parallelism": 1, "service_ns": 2 * MS},
        network=network,
        checkpointing=Checkpointing(mode=Mode.UNALIGNED, interval_ns=300 * MS),
    )
    world = ran(model)
    assert [world.tasks_of(name)[0].writers[0].sizes.mean for name in ("middle", "source")] == [
        3000,
        1000,
    ]


def test_sizes_of_records_vary_about_their_mean() -> None:
    """The written bytes match records of the mean size, though most are smaller."""
    inputs = (Input(upstream="middle", record_variation=0.0),)
    model = chain(
        source={"record_bytes": 6_000, "record_variation": 0.9, "records": 4_000},
        middle={"service_ns": 0, "record_variation": 0.5},
        last={"service_ns": 0, "inputs": inputs},
        engine=Engine.PROCESSES,
    )
    world = ran(model)
    assert sum(processed(world, "middle")) == 4_000
    taken = sum(gate.taken_bytes for task in world.tasks_of("middle") for gate in task.gates)
    assert taken == pytest.approx(4_000 * 6_000, rel=0.05)
    writers = [task.writers[0] for name in ("source", "middle") for task in world.tasks_of(name)]
    assert [one.sizes.is_steady for one in writers] == [False, False, True, True]
    sizes = [writers[0].sizes.size(0, number) for number in range(4_000)]
    assert sum(sizes) / len(sizes) == pytest.approx(6_000, rel=0.05)
    assert sorted(sizes)[len(sizes) // 2] < 5_000
    assert max(sizes) > model.network.segment_bytes  # some span buffers


def test_checkpoints_hold_the_bytes_of_records_that_vary() -> None:
    """Before a slow operator as many bytes are in flight, but fewer records fill them."""
    held = []
    for variation in (0.0, 0.9):
        model = chain(
            source={"record_bytes": 3_000, "record_variation": variation},
            middle={"service_ns": 2 * MS},
            checkpointing=Checkpointing(mode=Mode.UNALIGNED, interval_ns=300 * MS),
        )
        records = ran(model).coordinator.records.values()
        sizes = [
            sum(p.persisted_bytes for p, _ in r.parts.values()) for r in records if r.duration_ns
        ]
        held.append(sorted(sizes)[len(sizes) // 2])
    assert held[1] == pytest.approx(held[0], rel=0.1)
    assert held[1] != held[0]
