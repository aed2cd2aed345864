"""What must hold of single records, where they have identities and numbers in their channels.

After forwarded edges what belongs together comes as it was sent.  What belongs together is a key
group of one split, after a keyed exchange, or a split. Records of it have rising identities.  It is
followed over all subtasks of a vertex: an owner that changes with a rescale may not begin before
what the former one had is done.

Source: Apache Flink 1.20.3, RebalancePartitioner and RescalePartitioner (one channel after the
other, beginning anywhere, each output has a partitioner of its own), GlobalPartitioner,
BroadcastPartitioner.

A plane that only counts records has one identity for all of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import chain, islice, repeat
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ckptsim.scenarios.dialect import listed
from ckptsim.scenarios.job import Partitioner
from ckptsim.sim.job.events import Listener
from ckptsim.sim.job.oracle.channels import ChannelOracle

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ckptsim.sim.job.buffers.output.routing import Route
    from ckptsim.sim.job.control.checkpoint import JobCheckpoint
    from ckptsim.sim.job.events import of_job
    from ckptsim.sim.job.events.of_tasks import RecordSent, RecordsRestored, RecordTaken
    from ckptsim.sim.job.graph import OutputSpec
    from ckptsim.sim.job.oracle.tasks import TaskOracle
    from ckptsim.sim.job.oracle.view import Contents, PlaneView, Violate
    from ckptsim.sim.job.records.state.view import RecordView


_TAKE_CHANNELS = "records_take_their_channels"
_IN_TURN = (Partitioner.REBALANCE, Partitioner.RESCALE)
# How often a route is asked for each channel. An assumption: twice shows that turns come round.
_ROUNDS = 2


class Silent:
    """Listens to a channel and notes nothing."""

    def __getattr__(self, name: str) -> Callable[..., None]:
        return _ignore


def _ignore(*_: object, **__: object) -> None:
    pass


SILENT: Any = Silent()


class RecordChannel(ChannelOracle):
    """A channel with numbered records."""

    _sent_amount = _taken_amount = 0
    _number = _taken_number = 0  # of the last element sent and taken
    _memory: int | None = None  # how much both ends may hold, where it is bounded
    _keeps_splits: bool | None = None  # not looked at before the attempt has begun

    def __init__(self, sender: TaskOracle, receiver: TaskOracle, *, keeps_order: bool) -> None:
        super().__init__(sender, receiver, keeps_order=keeps_order)
        self._view = cast("RecordView", sender.plane)
        self._read: dict[int, int] = {}  # of each split, the latest record that was taken

    @property
    def sent_amount(self) -> int:
        """How many records have left the sender."""
        return self._sent_amount

    @property
    def taken_amount(self) -> int:
        """How many have come to the task."""
        return self._taken_amount

    def preloaded(self, elements: Sequence[Any], /) -> None:
        """Note data that are at the receiver from the beginning."""
        self._number = len(elements)
        self._sent_amount += len(elements)

    def takes_over(self, channels: int, /) -> None:
        """Note how many channels of the checkpoint it represents."""
        self.old_channels = channels

    def watermark_polled(self) -> None:
        """Note that a final watermark comes to the task. Others may have to come, too."""
        self.final_watermarks += 1

    def log_cut(self, first: int, checkpoint: int, /) -> None:
        """Check that what a complete checkpoint replays is still logged.

        It is all after what the receiver's state has: that may have been taken long before the
        sender's barrier came, when the barrier of another channel was there.
        """
        read = self.read_cut(checkpoint)
        if read is not None and first > read + 1:
            says = f"has its log from {first} on, but checkpoint {checkpoint} needs {read + 1}"
            self.violate("logs_keep_what_is_needed", says)

    def memory_lent(self, most: int, /) -> None:
        """Note how much both ends may hold. More was recovered where that is more."""
        self._memory = max(most, self._number)

    def credited(self, credit: int, receiver: int, /) -> None:
        """Check that the receiver gives no more credit than it has buffers."""
        if credit > receiver:
            self.violate("buffers_are_accounted_for", f"has credit for {credit} of {receiver}")

    def data_sent(self, element: Any) -> None:
        """Check that records leave in order, and that both ends have room for them."""
        self._sent_amount += 1
        if self._memory is not None:
            held = self.sender.plane.written(self.sender.task)[self.place] - self._taken_amount
            if held > self._memory:
                says = f"holds {held} buffers at both ends, {self._memory} at most"
                self.violate("buffers_are_accounted_for", says)
        self._in_order("sends", element[0], self._number)
        self._number = element[0]

    def data_taken(self, element: Any) -> None:
        """Check that records come in the order of sending, and those for a split as it has them."""
        self._taken_amount += 1
        self._in_order("delivers", element[0], self._taken_number)
        self._taken_number = element[0]
        if self._keeps_splits is None:
            # Numbers in a channel begin anew with an attempt. Identities show the order of the
            # in-flight data before.  A rescale deals that out over channels.
            was_rescaled = self.sender.lifecycle.was_rescaled
            in_order = self._view.sends_splits_in_order(self.sender.task)  # type: ignore[arg-type]
            self._keeps_splits = in_order and not was_rescaled
        record = self._view.split_and_place(element) if self._keeps_splits else None
        if record is None:
            return
        split, place = record
        latest = self._read.get(split, -1)
        if place < latest:
            says = f"delivers record {place} of split {split} behind {latest}"
            self.violate("order_is_kept", says)
        self._read[split] = max(place, latest)

    def persisted(self, checkpoint: int, elements: Any) -> None:
        """Check data that go into a checkpoint: all were sent before its barrier."""
        cut = self.sent_cut(checkpoint)
        late = None if cut is None else next((n for n, _ in elements if n > cut), None)
        if late is not None:
            says = f"record {late}, sent after the barrier, goes into checkpoint {checkpoint}"
            self.violate("consistent_cut", says)

    def _in_order(self, does: str, number: int, before: int) -> None:
        if number != before + 1:
            self.violate("order_is_kept", f"{does} record {number} after {before}")


class RecordOracle(Listener):
    """Where the records of one job have gone, and in which order, in one attempt."""

    def __init__(self, violate: Violate) -> None:
        self._violate = violate
        self._latest: dict[tuple[str, tuple[int, ...]], int] = {}  # of each unit at each vertex
        self._places: dict[tuple[int, int], int] = {}  # by task and first channel of an output

    def deploying(self, event: of_job.AttemptDeploying) -> None:
        """Forget an attempt."""
        self._latest.clear()
        self._places.clear()

    def restored(self, event: RecordsRestored) -> None:
        """Check the owners of the records in a task's state, and note those that come first."""
        (vertex, subtask), name = event.task.place, "begins with the state of"
        for record, owners in zip(event.records, event.owners, strict=False):
            if subtask not in owners:
                self._wrong_owner(event, name, record, sorted(owners))
        for record, unit in zip(event.records, event.units, strict=False):
            if unit is not None:
                self._latest[vertex, unit] = max(record, self._latest.get((vertex, unit), record))

    def taken(self, event: RecordTaken) -> None:
        """Check that the task owns the key of a record, and that it is after those for its unit."""
        vertex, subtask = event.task.place
        if event.owner not in (None, subtask):
            self._wrong_owner(event, "processes", event.record, [event.owner])
        if event.unit is None:
            return
        latest = self._latest.get((vertex, event.unit), -1)
        if event.record < latest:
            says = f"{vertex} processes record {event.record} behind {latest}, which was sent later"
            self._violate("needed_order_is_kept", says)
        self._latest[vertex, event.unit] = max(latest, event.record)

    def _wrong_owner(
        self, event: RecordTaken | RecordsRestored, does: str, record: int, owners: Sequence[Any]
    ) -> None:
        vertex, subtask = event.task.place
        says = f"{vertex}/{subtask} {does} record {record}, which is for subtask "
        self._violate("keyed_records_reach_their_subtask", says + ", ".join(map(str, owners)))

    def sent(self, event: RecordSent) -> None:
        """Check that a record takes one channel of each output, in its turn, or all of them."""
        for output, taken in event.routes:
            every = output.channels
            if output.partitioner is Partitioner.BROADCAST:
                right = tuple(taken) == every
            else:
                right = len(taken) == 1 and self._may_take(event.task.number, output, taken[0])
            if not right:
                places = listed([channel - every[0] for channel in taken])
                name = "/".join(map(str, event.task.place))
                self._violate(_TAKE_CHANNELS, _says(name, output, f"takes {places}"))

    def _may_take(self, task: int, output: OutputSpec, index: int) -> bool:
        """Return whether a record may take a channel, by its index in the job, as its only one."""
        every = output.channels
        place = index - every[0]  # the ones of an output are numbered one after the other
        if not 0 <= place < len(every):
            return False
        if output.partitioner is Partitioner.GLOBAL:
            return place == 0
        if output.partitioner not in _IN_TURN:
            return True
        latest = self._places.get((task, every[0]), place - 1)
        self._places[task, every[0]] = place
        return place == (latest + 1) % len(every)


def check_route(name: str, output: OutputSpec, route: Route, violate: Violate) -> None:
    """Check the next records of an output by a copy of its route."""
    width = 1 if output.partitioner is Partitioner.BROADCAST else len(output.channels)
    picks = route.again().block(_ROUNDS * width)
    right = bool(np.all((picks >= 0) & (picks < width)))
    if output.partitioner is Partitioner.GLOBAL:
        right = not picks.any()
    elif output.partitioner in _IN_TURN:
        right = right and bool(np.all(np.diff(picks) % width == 1 % width))
    if not right:
        violate(_TAKE_CHANNELS, _says(name, output, f"takes {listed(picks.tolist())} one by one"))


def _says(name: str, output: OutputSpec, takes: str) -> str:
    kind, count = output.partitioner.value, len(output.channels)
    return f"a record of {name} for {output.edge.downstream} ({kind}, {count} channels) {takes}"


def check_contents(
    plane: PlaneView, violate: Violate, left_out: Mapping[str, Contents], *, exactly: bool
) -> None:
    """Check output and state of an ended job. left_out: by vertex. exactly: no repeats."""
    expected = _without(plane.expected(), left_out)
    ever = _without(plane.at_most(), left_out) if exactly else plane.ever()
    for vertex in plane.vertices:
        for what, found in (("output", plane.output(vertex)), ("state", plane.state(vertex))):
            if found is None:
                continue
            name = vertex.name
            says = (
                differences(expected[name], found, ever[name])
                if exactly
                else loss(expected[name], found, ever[name], attempts=plane.attempts)
            )
            if says is not None:
                name_of = f"exactly_once_{what}" if exactly else "at_least_once"
                violate(name_of, f"{what} of {name}: {says}")


def check_restored(
    plane: PlaneView,
    restored: JobCheckpoint,
    violate: Violate,
    left_out: Mapping[str, Contents],
    *,
    exactly: bool,
) -> None:
    """Check that an attempt begins from a cut.

    What sources had emitted is in the state of each vertex, or on its way to it, except for the
    rest. At least that where records may be repeated.
    """
    put_back = plane.put_back()
    if put_back is None:
        return
    needed = _without(plane.expected(), left_out)
    at_most = _without(plane.at_most(), left_out)
    for vertex in plane.vertices:
        state = plane.state(vertex)
        if state is None:
            continue
        expected, found = needed[vertex.name], state + put_back[vertex.name]
        most = at_most[vertex.name]
        says = differences(expected, found if exactly else found & most, most)
        if says is not None:
            says = f"begins from checkpoint {restored.checkpoint_id}: {vertex.name}: {says}"
            violate("restored_checkpoint_is_a_cut", says, restored.checkpoint_id)


def missing_at_restore(plane: PlaneView) -> dict[str, Contents]:
    """Return by vertex what an attempt begins without of what sources had emitted."""
    put_back, expected = plane.put_back(), plane.expected()
    found = {vertex.name: plane.state(vertex) for vertex in plane.vertices}
    if put_back is None:
        return {}
    return {
        name: expected[name] - (state + put_back[name])
        for name, state in found.items()
        if state is not None
    }


def _without(
    contents: dict[str, Contents], left_out: Mapping[str, Contents]
) -> dict[str, Contents]:
    return contents | {name: contents[name] - missing for name, missing in left_out.items()}


def differences(expected: Contents, found: Contents, at_most: Contents | None = None) -> str | None:
    """Say how two contents differ, with three records at most, or None. at_most: if more may be."""
    parts = []
    most = expected if at_most is None else at_most
    for what, there in (("missing", expected - found), ("too many", found - most)):
        if there:
            parts.append(f"{there.total()} {what}{_named(there)}")
    return ", ".join(parts) or None


def _named(found: Contents) -> str:
    if None in found:
        return ""
    first = chain.from_iterable(repeat(one, min(3, found[one])) for one in sorted(found))
    return f" (such as {listed(islice(first, 3))})"


def loss(expected: Contents, found: Contents, ever: Contents, *, attempts: int) -> str | None:
    """Say in words the missing part, or can be no repeat, when repeats are allowed.

    ever: what must be there of all that any attempt sent. A stop can end a source before it sends
    again what tasks after it had processed ahead of their snapshots.  attempts: how many there
    were. Each may add a record once more, and nothing else may.
    """
    most = Counter({record: attempts * times for record, times in ever.items()})
    return differences(expected, (found & expected) + (found - most))
