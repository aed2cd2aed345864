"""The buffer plane as the oracle sees it: amounts are bytes, and data have no identity."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ckptsim.scenarios.job import VertexKind
from ckptsim.sim.job.buffers.compiled.columns import counts
from ckptsim.sim.job.buffers.kinds import State
from ckptsim.sim.job.buffers.output import Channels, Route, Selectivity
from ckptsim.sim.job.buffers.state import BUFFER_HEADER_BYTES
from ckptsim.sim.job.buffers.watched import bytes_ns, message_ns, writing_ns
from ckptsim.sim.job.oracle.view import NOTHING, Contents, Held, PlaneView

if TYPE_CHECKING:
    from ckptsim.models.barriers.channels.network import Persister
    from ckptsim.scenarios.job import Vertex
    from ckptsim.sim.job.buffers.output import Route, Subpartition
    from ckptsim.sim.job.buffers.state import Span
    from ckptsim.sim.job.buffers.tasks import Task
    from ckptsim.sim.job.buffers.world import DataflowWorld


Counts: TypeAlias = NDArray[np.int64]
_BLOCK = 4096


class Recount:
    """Follows one output's route apart from its writer. broadcast: counted as one channel."""

    def __init__(self, route: Route, channels: int) -> None:
        self._route = route.again()
        self._counts = np.zeros(channels, dtype=np.int64)
        self._counted = 0
        self._block: Channels = np.zeros(0, dtype=np.int16)

    def records(self, emitted: int) -> Counts:
        """Return how many of the first `emitted` records each channel got, until the next call."""
        while self._counted < emitted:
            if not len(self._block):
                self._block = self._route.block(_BLOCK)
            part = self._block[: emitted - self._counted]
            self._block = self._block[len(part) :]
            self._counts += np.bincount(part, minlength=len(self._counts))
            self._counted += len(part)
        return self._counts


# So many messages, one after the other, and one of them has come.  Assumption: as on records.
_MESSAGES = 4
_TAKES_NO_MAIL = (int(State.STUCK), int(State.PAUSED), int(State.RESTORING))
_ALL = None  # what all records are called where they have no identity


class BufferView(PlaneView):
    """A plane of buffers. restores: the attempt began with data in flight, or may have."""

    unit = "bytes"
    storing_ns: int | None = None  # the cores of a machine take their time
    header_bytes = BUFFER_HEADER_BYTES
    loses_queues = False
    restores = True

    def __init__(self, world: DataflowWorld) -> None:
        self.world = world
        self._recounts: dict[int, list[Recount]] = {}
        self._counted: dict[int, Counts] = {}  # by task, where its counts stand in the kernel
        self.timer_extra_ns = world.constants.timer_extra_ns
        self.wire_ns = world.model.network.send_ns
        self._writing_ns: int | None = None

    @property
    def deleting(self) -> int:
        """Return how many checkpoints are being deleted."""
        return self.world.storage.deleting

    @property
    def messages_ns(self) -> int:
        """Return after which time it has where no fault strikes."""
        return _MESSAGES * message_ns(self.world)

    @property
    def writing_ns(self) -> int | None:
        """Return within which time a part is written, by the parallelism and the files of now."""
        if self.world.model.channel_state.is_logged:
            return None  # a log that lags has no bound
        if self._writing_ns is None:
            self._writing_ns = writing_ns(self.world)
        return self._writing_ns + bytes_ns(self.world)

    def redeployed(self) -> None:
        """Forget the routes of the attempt that is over, and its size."""
        self._writing_ns = None
        self._recounts.clear()
        self._counted.clear()

    def route(self, task: Task, route: Route, channels: int) -> None:
        """Follow a copy of a route."""
        self._recounts.setdefault(task.number, []).append(Recount(route, channels))

    def name(self, task: Task) -> str:
        """Return the name of a task's entity."""
        return task.entity.name

    def written(self, task: Task) -> list[int]:
        """Return what a task has written so far, per output, counted from its keys alone."""
        found: list[int] = self._written(task).tolist()
        return found

    def written_by_all(self, tasks: Sequence[Task]) -> Counts:
        """Return the same of all tasks, one after the other."""
        return np.concatenate([self._written(task) for task in tasks])

    def _written(self, task: Task) -> Counts:
        found: list[Counts] = []
        for writer, recount in zip(task.writers, self._recounts.get(task.number, ()), strict=True):
            ends, sizes = writer.subpartitions, writer.sizes
            records = recount.records(writer.emitted)
            if len(records) != len(ends):
                records = np.broadcast_to(records, len(ends))
            if sizes.is_steady:
                size = records * sizes.mean
            else:
                of = zip(ends, records.tolist(), strict=True)
                size = np.array([sizes.first(one.lane, count) for one, count in of])
            if self.restores:
                size = size + np.array([one.restored.bytes for one in ends])
            found.append(size)
        if len(found) == 1:
            return found[0]
        return np.concatenate(found) if found else np.zeros(0, dtype=np.int64)

    def taken(self, task: Task, inputs: Sequence[Any]) -> int:
        """Return how many bytes have come to a task. A kernel is asked once."""
        driver = self.world.compiled
        if driver is None or not inputs:
            return super().taken(task, inputs)
        places = self._counted.get(task.number)
        if places is None:
            rows = [driver.tables.counts_of(one.row) for one in task.channels]  # type: ignore[union-attr]
            places = self._counted[task.number] = np.array(rows) + counts.TAKEN_BYTES
        return int(driver.m[places].sum())

    def unread(self, task: Task) -> list[int]:
        """Return what a task has not read yet of the buffers that it has taken."""
        return task.unread_of_all()

    def persisters(self, task: Task) -> list[Persister | None]:
        """Return what each input knows of what it persists. A kernel keeps it to itself."""
        cores = (getattr(channel, "core", None) for channel in task.channels)
        return [getattr(core, "persister", None) for core in cores]

    def is_restoring(self, task: Task, gate: int) -> bool:
        """Return whether a channel of a gate still holds data of several old ones."""
        given = ((one.records, one.subpartition.restored) for one in task.gates[gate].channels)
        told_apart = (task.number, gate) in self.world.told_apart
        return told_apart and any(records < restored.records for records, restored in given)

    def held(self, task: Task, part: Any) -> tuple[list[Held], list[Held]]:
        """Return what a part has in flight, by inputs and by outputs: nothing that is in logs."""
        kept = part.snapshot
        inputs, outputs = kept.input_spans, kept.output_spans
        if self.world.model.channel_state.is_logged:
            inputs = outputs = {}
        return (_held_of(inputs, len(task.channels)), _held_of(outputs, len(task.subpartitions)))

    def logged(self, parts: Mapping[int, Any]) -> dict[tuple[int, int], Held]:
        """Return what parts of a checkpoint hold of logs, by sender and place of the output."""
        found: dict[tuple[int, int], Held] = {}
        if not self.world.model.channel_state.is_logged:
            return found
        for one in self.world.graph.channels:
            spans: list[Span] = []
            if one.downstream in parts:
                spans += parts[one.downstream].input_spans.get(one.input, ())
            if one.upstream in parts:
                spans += parts[one.upstream].output_spans.get(one.output, ())
            found[one.upstream, one.output] = _held(spans)
        return found

    def busy_ns(self, task: Task) -> int:
        """Return how long the thread was inside a record without a buffer, paused, or restoring."""
        return task.time_spent(_TAKES_NO_MAIL)

    def at_once_ns(self, task: Task) -> int:
        """Return what one record takes, or waking up."""
        longest_ns: int = task.longest_step_ns
        return longest_ns + self.world.constants.wake_ns

    # What the job holds, in records -----------------------------------------------------------

    @property
    def attempts(self) -> int:
        """Return how many attempts there were."""
        return self.world.control.attempts

    def expected(self) -> dict[str, Contents]:
        """Return per vertex the sent data to it: a record goes over each edge once."""
        return {vertex.name: Counter({_ALL: self._sent_to(vertex)}) for vertex in self.vertices}

    at_most = ever = expected

    def _sent_to(self, vertex: Vertex) -> int:
        graph, total = self.world.graph, self.world.rescales.owed.get(vertex.name, 0)
        for edge in graph.edges:
            if edge.downstream == vertex.name:
                emitted = Selectivity(graph.vertex(edge.upstream).selectivity).emitted
                sent = sum(emitted(task.processed) for task in self.world.tasks_of(edge.upstream))
                total += graph.copies(edge) * sent
        return total

    def output(self, vertex: Vertex) -> Contents | None:
        """Return a sink's committed output. Copies that a rescale made count as written again."""
        if vertex.kind is not VertexKind.SINK:
            return None
        external = self.world.control.sinks.external
        copied = self.world.rescales.copied.get(vertex.name, 0)
        return Counter({_ALL: external.committed_count(vertex.name) + copied})

    def state(self, vertex: Vertex) -> Contents | None:
        """Return what an operator has processed."""
        if vertex.is_source:
            return None
        return Counter({_ALL: sum(task.processed for task in self.world.tasks_of(vertex.name))})

    def put_back(self) -> dict[str, Contents]:
        """Return per vertex what a restart has put into its channels: whole records, if right."""
        found: dict[str, Contents] = {}
        for vertex in self.vertices:
            subpartitions = [
                c.subpartition for t in self.world.tasks_of(vertex.name) for c in t.channels
            ]
            whole = sum(math.floor(_records_of(one)) for one in subpartitions)
            found[vertex.name] = Counter({_ALL: whole})
        return found


def _records_of(subpartition: Subpartition) -> Fraction:
    """Return how many records a restart puts back: by their bytes, where all are of one size."""
    back, sizes = subpartition.restored, subpartition.writer.sizes
    if sizes.is_steady:
        return Fraction(back.bytes + back.ahead_bytes, sizes.mean)
    return Fraction(back.records + back.ahead_records)


def _held_of(spans: Mapping[int, Sequence[Span]], channels: int) -> list[Held]:
    """Return the same of each channel. An aligned part has nothing of any."""
    if not any(spans.values()):
        return [NOTHING] * channels
    return [_held(spans.get(place, ())) for place in range(channels)]


def _held(spans: Sequence[Span]) -> Held:
    return Held(sum(size for size, _ in spans), len(spans)) if spans else NOTHING
