"""What the oracle asks of a data plane, as structural Protocols.

Amounts of data are in the unit of the plane: records, or bytes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, cast

if TYPE_CHECKING:
    from ckptsim.models.barriers.channels.network import Persister
    from ckptsim.models.coordinator.plan import Edge
    from ckptsim.scenarios.job import Vertex
    from ckptsim.sim.job.control.faults import FaultPlan


Contents = Counter[Any]
"""How often each record is somewhere, by its identity; None where records have none."""

Violation = tuple[str, int, str, int | None]
"""Property, instant in ns, sentence, checkpoint concerned."""


class Violate(Protocol):
    """Reports a property that does not hold."""

    def __call__(self, name: str, says: str, checkpoint: int | None = None, /) -> None:
        """Report it. checkpoint: the one concerned, where there is one."""


@dataclass(frozen=True, slots=True)
class Held:
    """In-flight data of one channel in a part. numbers: of its elements, if any. pieces: count."""

    amount: int
    pieces: int
    numbers: tuple[int, ...] | None = None


NOTHING = Held(0, 0)


class PlaneView(Protocol):
    """One data plane, as the oracle sees it. Tasks are its own.

    world: the plane.  unit: of its amounts, in the plural.
    storing_ns: the most that storing a completed checkpoint takes, None where nothing bounds it.
    timer_extra_ns: how late timers run.
    wire_ns: how long an event may wait for the part being sent.  header_bytes: what a piece of
    in-flight data takes besides its amount.
    loses_queues: what a task that fails has queued is lost at once, not when its attempt ends.
    """

    world: Any
    unit: str
    storing_ns: int | None
    timer_extra_ns: int
    wire_ns: int
    header_bytes: int
    loses_queues: bool

    @property
    def faults(self) -> FaultPlan:
        """Return the faults of the run."""
        return cast("FaultPlan", self.world.faults)

    @property
    def messages_ns(self) -> int:
        """Return after which time a message has come and been handled where no fault strikes."""

    @property
    def grace_ns(self) -> int:
        """Return after which time a message has come in any case."""
        return self.messages_ns + self.faults.longest_ns + self.faults.latest_ns

    @property
    def writing_ns(self) -> int | None:
        """Return the most that writing a task's part takes that waits for nothing else, if any."""

    def taken(self, task: Any, inputs: Sequence[Any]) -> int:
        """Return how much has come to a task over all its channels. inputs: their oracles."""
        del task
        return sum(channel.taken_amount for channel in inputs)

    @property
    def vertices(self) -> Sequence[Vertex]:
        """Return the vertices."""
        return cast("Sequence[Vertex]", self.world.graph.vertices)

    @property
    def plan_edges(self) -> Sequence[Edge]:
        """Return the edges as plans of checkpoints see them."""
        return cast("Sequence[Edge]", self.world.graph.plan_edges)

    def name(self, task: Any) -> str:
        """Return how a task is called in sentences."""

    def written(self, task: Any) -> Sequence[int]:
        """Return how much a task has put into each output, by the restored data and since."""

    def unread(self, task: Any) -> Sequence[int]:
        """Return how much a task has taken from each input that its state does not have yet."""

    def has_no_splits(self, task: Any) -> bool:
        """Return whether it is a source that nothing is left for to read."""
        return task.is_source and bool(task.has_no_splits)

    def splits_left(self, task: Any) -> Sequence[int]:
        """Return the splits of a source that have an end which it has not come to yet."""
        return cast("Sequence[int]", task.splits_left) if task.is_source else ()

    def persisters(self, task: Any) -> Sequence[Persister | None]:
        """Return what each input knows of the data that it persists. None where that is hidden."""

    def is_restoring(self, task: Any, gate: int) -> bool:
        """Return whether a gate has restored data that no part could report."""

    def held(self, task: Any, part: Any) -> tuple[list[Held], list[Held]]:
        """Return what a part in a checkpoint has in flight, by inputs and by outputs."""

    def logged(self, parts: Mapping[int, Any]) -> Mapping[tuple[int, int], Held]:
        """Return what parts of a checkpoint hold in logs of senders, by task and output."""

    def busy_ns(self, task: Any) -> int:
        """Return how long in all the thread could do nothing, whole records aside."""

    def at_once_ns(self, task: Any) -> int:
        """Return within which time the thread does what it is to do at once: one record."""

    # The content of the job: records by their identities, or all of them alike --------------------

    @property
    def attempts(self) -> int:
        """Return how many attempts there were."""

    def expected(self) -> dict[str, Contents]:
        """Return per vertex what it must have processed of what sources have emitted by now."""

    def at_most(self) -> dict[str, Contents]:
        """Return per vertex the most it may have processed of what sources have emitted."""

    def ever(self) -> dict[str, Contents]:
        """Return per vertex what it may have processed of what any attempt has emitted."""

    def output(self, vertex: Vertex) -> Contents | None:
        """Return the committed output of a sink, None where nothing is committed."""

    def state(self, vertex: Vertex) -> Contents | None:
        """Return what the state of a vertex has, None where it is not whole or means nothing."""

    def put_back(self) -> dict[str, Contents] | None:
        """Return per vertex its restored in-flight data, None where that is not known."""
