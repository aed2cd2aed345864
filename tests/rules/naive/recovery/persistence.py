"""The rules of in-flight data that is logged, lent, read from files or carried over a restart.

Source: FLIP-76, ad-hoc vs continuous spilling, spanning records, retaining subtask indices,
non-keyed operators, existing persistence mechanism or a new one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ckptsim.models.core import ProtocolError
from ckptsim.models.recovery import persistence
from ckptsim.models.recovery.in_flight import Exchange
from ckptsim.models.recovery.mapping import DISTRIBUTIONS, Distribution, Mapper, Partitioner
from ckptsim.models.recovery.persistence import (
    Files,
    Logged,
    LogPosition,
    LogService,
    LogSlice,
    OrderedEdges,
    ReplayRule,
    RescalingScope,
    SubtaskIndices,
    Succession,
)
from ckptsim.sim.rules.answers import Pick
from tests.rules.naive.naive import Naive


class LogRules(Naive):
    """A channel's log: all that was ever put in, and the highest place up to which it was cut."""

    def __init__(self) -> None:
        self._sizes: list[int] = []
        self._cuts: list[int] = []

    def _kept(self) -> list[Logged[str]]:
        first = max(self._cuts, default=0)
        numbers = range(1, len(self._sizes) + 1)
        return [Logged(n, f"b{n}", sum(self._sizes[:n])) for n in numbers if n >= first]

    def refusals(self, event: Any) -> list[str]:
        """Return why a call is refused."""
        if event[0] == "append":
            return [] if event[2] > 0 else ["empty_buffer"]
        ahead = event[0] == "up_to" and event[1] > len(self._sizes)
        return ["ahead_of_log"] if ahead else []

    def take(self, event: Any) -> Sequence[Any]:
        """Return what a call gives."""
        match event:
            case ("append", _, size):
                self._sizes.append(size)
                return [len(self._sizes)]
            case ("truncate", first):
                before = len(self._kept())
                self._cuts.append(min(first, len(self._sizes) + 1))  # nothing that is to come
                return [before - len(self._kept())]
            case ("__len__",):
                return [len(self._kept())]
            case (_, last, {"read": read}):
                buffers = tuple(one for one in self._kept() if one.number <= last)
                return [LogSlice(buffers=buffers, read=read)]
        raise AssertionError(event)

    def says(self, core: Any) -> Iterator[tuple[str, object, object]]:
        """Yield what was ever logged."""
        yield "count", core.core.count, len(self._sizes)
        yield "size", core.core.size, sum(self._sizes)

    def stray(self, pick: Pick) -> Any:
        """Return a call."""
        count = len(self._sizes)
        return pick.of(
            [
                ("append", f"b{count + 1}", pick.of((1, 7, 100, 0))),
                ("append", f"b{count + 1}", pick.of((1, 7, 100))),
                ("truncate", pick.integer(0, count + 2)),
                ("up_to", pick.integer(0, count + 1), {"read": pick.of((None, 0, 2))}),
                ("__len__",),
            ]
        )


class CreditRules(Naive):
    """Credit is what the receiver can hold, less what it held, less sent, plus given back."""

    def __init__(self, *, sender: int, receiver: int) -> None:
        self._sender, self._receiver = sender, receiver
        self._calls: list[Any] = []

    def _credit(self) -> int:
        spent = sum(1 for name, *_ in self._calls if name == "send") + self._held()
        return self._receiver - spent + sum(1 for name, *_ in self._calls if name == "give_back")

    def _held(self) -> int:
        return sum(call[1] for call in self._calls if call[0] == "recover")

    def take(self, event: Any) -> Sequence[Any]:
        """Return what a call gives."""
        if event[0] == "has_room":
            owed = max(0, -self._credit())
            return [event[1] + owed < self._sender]
        self._calls.append(event)
        return [None]

    def says(self, core: Any) -> Iterator[tuple[str, object, object]]:
        """Yield the credit, and whether something may be sent for it."""
        yield "credit", core.core.credit, self._credit()
        yield "lent", core.core.lent, self._held()
        yield "may_send", core.core.may_send, self._credit() > 0

    def stray(self, pick: Pick) -> Any:
        """Return a call; what was recovered is lent once."""
        calls: list[Any] = [("send",), ("give_back",), ("has_room", pick.integer(0, 6))]
        if not self._held():
            calls.append(("recover", pick.integer(1, 5)))
        return pick.of(calls)


# Functions ------------------------------------------------------------------------------------


def _first_needed(*, sent_before: int, credit: int, read: int | None) -> int:
    unread = [n for n in range(1, 100) if n > sent_before - credit] if read is None else None
    return unread[0] if unread is not None else (read or 0) + 1


def _replayed(
    rule: ReplayRule, kept: LogSlice[Any], *, read: int | None, buffer_size: int
) -> tuple[Logged[Any], ...]:
    if rule is ReplayRule.LOG_START:
        return kept.buffers
    known = kept.read if rule is ReplayRule.TOLD_AT_SNAPSHOT else read
    behind = 0 if known is None else known
    if rule is ReplayRule.BUFFER_SIZES:
        return tuple(one for one in kept.buffers if not one.ends_at <= behind * buffer_size)
    return tuple(one for one in kept.buffers if not one.number <= behind)


def _successors(
    make: Callable[..., Succession],
    rule: SubtaskIndices,
    identities: Sequence[int],
    order: Sequence[int],
) -> Any:
    try:
        found = make(rule, identities, order)
    except ProtocolError as error:
        return error.kind
    return found.takes, found.identities, [found.index_of(one) for one in found.identities]


def _succession(rule: SubtaskIndices, identities: Sequence[int], order: Sequence[int]) -> Any:
    if any(list(order).count(at) != 1 for at in range(len(identities))) or len(order) != len(
        identities
    ):
        return "no_permutation"
    same = tuple(at for at, _ in enumerate(identities))
    takes = same if rule is SubtaskIndices.KEPT else tuple(order)
    carried = rule is SubtaskIndices.CARRIED
    known = tuple(identities[old] for old in takes) if carried else same
    return takes, known, [min(at for at in same if known[at] == one) for one in known]


def _distribution_of(
    partitioner: Partitioner, rule: OrderedEdges, *, has_units: bool, moves: bool
) -> Distribution:
    forward, broadcast = partitioner.name == "FORWARD", partitioner.name == "BROADCAST"
    if rule.value == "aligned" or not (forward or broadcast or partitioner.name == "RESCALE"):
        return DISTRIBUTIONS[partitioner]
    if rule.value == "reassigned" and moves and broadcast:
        return Distribution(upstream=Mapper.ARBITRARY, downstream=Mapper.COPY)
    if rule.value == "reassigned" and moves and has_units and forward:
        return Distribution(upstream=Mapper.FULL, downstream=Mapper.FULL)
    return DISTRIBUTIONS[Partitioner.REBALANCE]


def _may_rescale(scope: RescalingScope, exchanges: Sequence[Exchange]) -> bool:
    for one in exchanges:
        stays = not one.in_flight or one.old == one.new
        keyed = scope.value == "keyed" and one.distribution.downstream is Mapper.RANGE
        if scope.value != "allowed" and not stays and not keyed:
            return False
    return True


def _core_reads(files: Sequence[Sequence[str]], wanted: Sequence[str]) -> Any:
    try:
        found: Files[str] = Files(files)
    except ProtocolError as error:
        return error.kind
    place = found.handle(wanted[0]) if wanted else None
    return found.reads(wanted), None if place is None else (place.file, place.place)


def _reads(files: Sequence[Sequence[str]], wanted: Sequence[str]) -> Any:
    every = [chunk for chunks in files for chunk in chunks]
    if any(every.count(chunk) > 1 for chunk in every):
        return "written_twice"
    opened = [file for file in files if any(chunk in wanted for chunk in file)]
    # A piece begins where a chunk is wanted, and the one in front of it in its file is not.
    pieces = sum(
        chunk in wanted and not (at and file[at - 1] in wanted)
        for file in opened
        for at, chunk in enumerate(file)
    )
    places = [(n, at) for n, file in enumerate(files) for at, one in enumerate(file) if wanted]
    first = [place for place in places if files[place[0]][place[1]] == wanted[0]]
    return (len(opened), pieces), first[0] if first else None


def _core_kept(completed: Sequence[int], checkpoint: int) -> bool:
    service = LogService()
    for one in completed:
        service.completed(one)
    return LogPosition(service, checkpoint).is_kept


def _draw_log(pick: Pick) -> Sequence[Any]:
    sizes = [pick.of((10, 10, 10, 3)) for _ in range(pick.integer(0, 6))]
    every = [Logged(n + 1, f"b{n}", sum(sizes[: n + 1])) for n in range(len(sizes))]
    kept = LogSlice(
        buffers=tuple(every[pick.integer(0, 2) :]), read=pick.of((None, 0, pick.integer(0, 6)))
    )
    named = {"read": pick.of((None, pick.integer(0, 6))), "buffer_size": 10}
    return pick.of(tuple(ReplayRule)), kept, named


def _draw_order(pick: Pick) -> Sequence[Any]:
    count = pick.integer(1, 4)
    left, order = list(range(count)), []
    while left:
        order.append(left.pop(pick.integer(0, len(left) - 1)))
    if pick.one_in(6):
        order[0] = pick.of((0, count))
    identities = list(reversed(range(count))) if pick.one_in(2) else list(range(count))
    return pick.of(tuple(SubtaskIndices)), identities, order


def _draw_edge(pick: Pick) -> Sequence[Any]:
    named = {"has_units": pick.one_in(2), "moves": not pick.one_in(3)}
    return pick.of(tuple(DISTRIBUTIONS)), pick.of(tuple(OrderedEdges)), named


def _draw_scope(pick: Pick) -> Sequence[Any]:
    exchanges = [
        Exchange(
            distribution=pick.of(list(DISTRIBUTIONS.values())),
            old=(pick.integer(1, 2), pick.integer(1, 2)),
            new=(pick.integer(1, 2), pick.integer(1, 2)),
            in_flight=not pick.one_in(3),
        )
        for _ in range(pick.integer(0, 3))
    ]
    return pick.of(tuple(RescalingScope)), exchanges


def _draw_files(pick: Pick) -> Sequence[Any]:
    files: list[list[str]] = [
        [f"{number}.{at}" for at in range(pick.integer(0, 4))] for number in range(3)
    ]
    if pick.one_in(8):
        files[0].append("1.0")
    names = ["0.0", "0.1", "0.2", "1.0", "1.1", "2.0", "2.1", "2.3", "nowhere"]
    return files, [pick.of(names) for _ in range(pick.integer(0, 6))]


def _draw_needed(pick: Pick) -> Sequence[Any]:
    read = pick.of((None, None, 0, 3))
    return ({"sent_before": pick.integer(0, 9), "credit": pick.integer(0, 9), "read": read},)


CORES: Mapping[str, Callable[..., Any]] = {
    "first_needed": persistence.first_needed,
    "replayed": persistence.replayed,
    "succession": lambda *drawn: _successors(persistence.succession, *drawn),
    "distribution_of": persistence.distribution_of,
    "may_rescale": persistence.may_rescale,
    "reads": _core_reads,
    "kept_in_log_service": _core_kept,
}
NAIVE: Mapping[str, Callable[..., Any]] = {
    "first_needed": _first_needed,
    "replayed": _replayed,
    "succession": _succession,
    "distribution_of": _distribution_of,
    "may_rescale": _may_rescale,
    "reads": _reads,
    "kept_in_log_service": lambda completed, one: all(other <= one for other in completed),
}
DRAWS: Mapping[str, Callable[[Pick], Sequence[Any]]] = {
    "first_needed": _draw_needed,
    "replayed": _draw_log,
    "succession": _draw_order,
    "distribution_of": _draw_edge,
    "may_rescale": _draw_scope,
    "reads": _draw_files,
    "kept_in_log_service": lambda p: ([p.integer(0, 4) for _ in range(3)], p.integer(-1, 5)),
}
