"""Which channels of an output a record takes, and that it comes to the subtask that owns its key.

Source: Apache Flink 1.20.3, RebalancePartitioner and RescalePartitioner (one channel after the
other, beginning anywhere; each output has a partitioner of its own), GlobalPartitioner,
BroadcastPartitioner.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ckptsim.scenarios.dialect import listed
from ckptsim.scenarios.job import Partitioner

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from ckptsim.sim.job.buffers.output.routing import Route
    from ckptsim.sim.job.graph import OutputSpec
    from ckptsim.sim.job.oracle.tasks import TaskOracle
    from ckptsim.sim.job.oracle.view import Violate
    from ckptsim.sim.job.records.channel import Channel

TAKE_CHANNELS = "records_take_their_channels"
_IN_TURN = (Partitioner.REBALANCE, Partitioner.RESCALE)
# How often a route is asked for each channel; an assumption: twice shows that turns come round.
_ROUNDS = 2


class RoutingObserver:
    """Is told where the records of a task on records go, and whose those are that it takes."""

    def record_routed(self, output: OutputSpec, taken: Sequence[Channel], /) -> None:
        """Note which channels of an output a record takes."""

    def keyed_record_taken(self, record: int, owner: int, /) -> None:
        """Note a record behind a keyed edge; owner: the subtask that has its key group."""

    def keyed_state_restored(self, record: int, owners: Collection[int], /) -> None:
        """Note a record whose effect keyed state has when a task begins; owners: by any edge."""


class RoutingOracle(RoutingObserver):
    """Where the records of one task of one attempt have gone."""

    def __init__(self, task: TaskOracle) -> None:
        self._task = task
        self._latest: dict[int, int] = {}  # by the first channel of an output: its place

    def record_routed(self, output: OutputSpec, taken: Sequence[Channel], /) -> None:
        """Check that a record takes one channel, in its turn, or all of them."""
        every = output.channels
        if output.partitioner is Partitioner.BROADCAST:
            right = tuple(channel.spec.index for channel in taken) == every
        else:
            right = len(taken) == 1 and self._is_one_of(output, taken[0].spec.index)
        if not right:
            places = [channel.spec.index - every[0] for channel in taken]
            says = _says(self._task.name, output, f"takes {listed(places)}")
            self._task.violate(TAKE_CHANNELS, says, None)

    def _is_one_of(self, output: OutputSpec, index: int) -> bool:
        """Say whether a record may take a channel, by its index in the job, as its only one."""
        every = output.channels
        place = index - every[0]  # those of an output are numbered one after the other
        if not 0 <= place < len(every):
            return False
        if output.partitioner is Partitioner.GLOBAL:
            return place == 0
        if output.partitioner not in _IN_TURN:
            return True
        latest = self._latest.get(every[0], place - 1)
        self._latest[every[0]] = place
        return place == (latest + 1) % len(every)

    def keyed_record_taken(self, record: int, owner: int, /) -> None:
        """Check that the task owns the key of a record."""
        if owner != self._task.task.place[1]:
            says = f"{self._task.name} processes record {record}, which is for subtask {owner}"
            self._task.violate("keyed_records_reach_their_subtask", says, None)

    def keyed_state_restored(self, record: int, owners: Collection[int], /) -> None:
        """Check that the task owns its key by one of its edges."""
        if self._task.task.place[1] not in owners:
            says = f"{self._task.name} begins with the state of record {record}, which is for "
            says += f"subtask {', '.join(map(str, sorted(owners)))}"
            self._task.violate("keyed_records_reach_their_subtask", says, None)


def check_route(name: str, output: OutputSpec, route: Route, violate: Violate) -> None:
    """Check where the next records of an output go, of which a copy of its route tells."""
    width = 1 if output.partitioner is Partitioner.BROADCAST else len(output.channels)
    picks = route.again().block(_ROUNDS * width)
    right = bool(np.all((picks >= 0) & (picks < width)))
    if output.partitioner is Partitioner.GLOBAL:
        right = not picks.any()
    elif output.partitioner in _IN_TURN:
        right = right and bool(np.all(np.diff(picks) % width == 1 % width))
    if not right:
        violate(
            TAKE_CHANNELS, _says(name, output, f"takes {listed(picks.tolist())} one by one"), None
        )


def _says(name: str, output: OutputSpec, takes: str) -> str:
    kind, count = output.partitioner.value, len(output.channels)
    return f"a record of {name} for {output.edge.downstream} ({kind}, {count} channels) {takes}"
