"""The stream of events and its listeners."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

from ckptsim.scenarios.catalogue import by_name
from ckptsim.sim.job.control.faults import FaultPlan
from ckptsim.sim.job.events import Event, Listener, TaskEvent, of_job, of_tasks
from ckptsim.sim.job.records.world import RecordWorld
from ckptsim.sim.kernel import Environment
from ckptsim.sim.slots import OURS

SOURCES = Path(__file__).parents[2] / "sim" / "job"


class Notes(Listener):
    """Notes the snapshots of tasks, and what the coordinator completes."""

    def __init__(self) -> None:
        self.found: list[tuple[str, int]] = []

    def note(self, event: of_tasks.SnapshotTaken | of_job.CheckpointCompleted) -> None:
        """Note either."""
        if isinstance(event, of_tasks.SnapshotTaken):
            self.found.append((event.task.place[0], event.checkpoint))
        else:
            self.found.append(("complete", event.record.checkpoint))


def test_a_listener_gets_the_kinds_that_it_names() -> None:
    """One method gets several kinds, each event once, at the instant at which it happens."""
    job: Any = by_name("final_chain").model
    world = RecordWorld(Environment(0), job.spelled_out(), FaultPlan(()), cores=OURS, judged=False)
    notes = Notes()
    world.events.attach(notes)
    world.run()
    completed = [number for who, number in notes.found if who == "complete"]
    records = world.coordinator.records
    assert completed == [n for n, one in records.items() if one.status == "completed"]
    first = notes.found.index(("complete", completed[0]))
    taken = [who for who, number in notes.found[:first] if number == completed[0]]
    assert len(taken) == len(world.tasks)


def test_each_kind_is_emitted_and_says_what_it_is() -> None:
    """No kind is left that nothing emits, and each has a sentence."""
    emitted = {
        node.func.attr
        for path in SOURCES.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    }
    bases = {"TaskEvent", "FileEvent"}
    ours = {n for n, kind in Event.kinds.items() if kind.__module__.startswith("ckptsim.")}
    assert sorted(ours - bases - emitted) == []
    assert all(Event.kinds[name].__doc__ for name in ours)
    assert issubclass(of_tasks.SnapshotTaken, TaskEvent)
