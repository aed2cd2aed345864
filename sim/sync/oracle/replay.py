"""The property that releases do not depend on the interleaving.

When an attempt has come to rest, fresh cores get its events again, in other orders that the wire
allows, with one flush at the end.  They must release the same states with the same number of
records.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, TypeAlias

from ckptsim.models.core import ProtocolError
from ckptsim.models.ordering import (
    FlushRequested,
    RecordsDurable,
    RecordsRead,
    SendState,
    StateRead,
    drive,
    scope_text,
)
from ckptsim.scenarios.dialect import listed

if TYPE_CHECKING:
    from ckptsim.sim.sync.attempt import Attempt
    from ckptsim.sim.sync.oracle.truth import SourceState
    from ckptsim.sim.sync.world import SyncWorld

Input: TypeAlias = RecordsRead | RecordsDurable | StateRead
# Scope -> (index, settled records) in the order of release.
Released: TypeAlias = dict[str, list[tuple[int, int]]]


class ReplayChecks:
    """Keeps what a core was told and shows it to others."""

    def __init__(
        self, world: SyncWorld, violate: Callable[[str, str, SourceState | None], None]
    ) -> None:
        self._world = world
        self._violate = violate
        self._inputs: list[Input] = []

    def begin(self) -> None:
        """Begin an attempt."""
        self._inputs = []

    def on_input(self, event: Input) -> None:
        """Keep what the core is reported."""
        self._inputs.append(event)

    def on_rest(self, attempt: Attempt) -> None:
        """Compare the released states with other interleavings."""
        if self._is_misled(attempt):
            return
        happened = _happened(attempt)
        for says, inputs in self._interleavings():
            released = self._replay(inputs)
            if released != happened:
                self._violate(
                    "release_is_deterministic",
                    f"with {says} the core releases {_shown(released)}, here it released "
                    f"{_shown(happened)}",
                    None,
                )

    def _is_misled(self, attempt: Attempt) -> bool:
        """Return whether a fault of the source makes more than one outcome right.

        One that counts too few has states released before all their records have come.  Two readers
        of a feed with one id make a state wait for the records of both, or be refused.
        """
        partitions = attempt.truth.partitions
        if any(one.source_count < one.high - one.low for one in partitions):
            return True
        ids = [(one.feed.index, one.wire_id) for one in partitions]
        return self._world.truth.on_sockets and len(dict.fromkeys(ids)) < len(ids)

    def _interleavings(self) -> list[tuple[str, list[Input]]]:
        """Return other orders of the same inputs. Records are read before they are durable.

        On one channel states divide the records, so the order of the data read is fixed there.
        """
        durable = [event for event in self._inputs if isinstance(event, RecordsDurable)]
        states = [event for event in self._inputs if isinstance(event, StateRead)]
        records = [event for event in self._inputs if isinstance(event, RecordsRead)]
        if not self._world.truth.on_sockets:
            kept = [event for event in self._inputs if not isinstance(event, RecordsDurable)]
            return [("durable records reported last", kept + durable[::-1])]
        late: list[Input] = [*reversed(records), *reversed(durable)]
        return [
            ("states first, the last one foremost", [*reversed(states), *late]),
            ("states after all records", [*records, *durable, *states]),
        ]

    def _replay(self, inputs: Iterable[Input]) -> Released:
        released: Released = {}

        def send(effect: SendState) -> bool:
            settled = effect.statistics.destination.accounted
            released.setdefault(scope_text(effect.scope), []).append((effect.key.index, settled))
            return True

        core = self._world.make_core(alone=True)  # compared is only what it releases
        try:
            for event in inputs:
                drive(core, event, send)
            drive(core, FlushRequested(), send)
        except ProtocolError as error:
            self._violate(
                "release_is_deterministic",
                f"in another order the core refuses what it took here: {error}",
                None,
            )
        return released


def _happened(attempt: Attempt) -> Released:
    released: Released = {}
    for scope, states in attempt.truth.states.items():
        own = [(s.index, sum(s.settled)) for s in states if s.acknowledged_ns is not None]
        if own:
            released[scope] = own
    return released


def _shown(released: Released) -> str:
    parts = [
        f"{scope} {listed(index for index, _ in own)}" for scope, own in sorted(released.items())
    ]
    return "; ".join(parts) or "nothing"
