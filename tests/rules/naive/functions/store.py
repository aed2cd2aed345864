"""What small parts of a checkpoint store are to give, stated naively.

Source: linkedin/venice, pull request 1476 (partitions have one description of their version).  That
what is written is seen at once, and durable when it is flushed, is what `WorkingContent` promises.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from itertools import count
from typing import Any

from ckptsim.models.store import (
    Area,
    DataRecord,
    ModelMedium,
    RowsWrite,
    Step,
    TopicPartition,
)
from ckptsim.models.store.replica import WorkingContent
from ckptsim.models.store.settings import SyncRules
from ckptsim.models.store.state import VersionCopy, agreed
from ckptsim.sim.rules.answers import Pick
from tests.rules.naive.calls import RefusedCall

_LATE = "end_of_push_timestamp"
_FIELDS = tuple(one.name for one in fields(VersionCopy))
# A write of a key and its value, None for its deletion; without a key a flush or a crash.
_Call = tuple[str, str, bytes | None]


def _agreed(copies: Sequence[VersionCopy]) -> VersionCopy | None:
    """All say the same of each field; of the late one those do that have it by now, which is no 0.

    Raises RefusedCall.
    """
    said = {name: [getattr(copy, name) for copy in copies] for name in _FIELDS}
    late = [one for one in said.pop(_LATE) if one]
    if any(len(set(values)) > 1 for values in (*said.values(), late)):
        raise RefusedCall("INCONSISTENT_SVS")
    if not copies:
        return None
    known = [
        copy.end_of_push_timestamp for copy in copies if copy.end_of_push_timestamp is not None
    ]
    return replace(copies[0], end_of_push_timestamp=late[0] if late else max(known, default=None))


def _core_content(calls: Sequence[_Call]) -> list[dict[str, bytes]]:
    """Carry calls out, as the host of a partition does; return what is seen after each."""
    medium, key = ModelMedium(atomic=True), TopicPartition("s_v1", 0)
    content, seen = WorkingContent(medium, key), []
    for call, name, value in calls:
        if call == "flush":
            changes = dict(content.changes())
            medium.commit(Step(rows=(RowsWrite(area=Area.DATA, key=key, changes=changes),)))
            content.flushed()
        elif call == "crash":
            medium.crash()
            content = WorkingContent(medium, key)
        else:
            content.apply(DataRecord(key=name, value=value))
        seen.append(content.rows())
    return seen


def _content(calls: Sequence[_Call]) -> list[dict[str, bytes]]:
    """The last write of each key counts, of those that no crash has taken back."""
    return [_rows(calls[: end + 1]) for end in range(len(calls))]


def _rows(calls: Sequence[_Call]) -> dict[str, bytes]:
    writes: list[tuple[str, bytes | None]] = []
    durable = 0
    for call, name, value in calls:
        if call == "flush":
            durable = len(writes)
        elif call == "crash":
            del writes[durable:]
        else:
            writes.append((name, value))
    return {name: value for name, value in dict(writes).items() if value is not None}


def _core_records(sync_bytes: int, counted: int, size: int) -> int | None:
    return SyncRules(sync_bytes=sync_bytes).records_until_due(counted, size)


def _records(sync_bytes: int, counted: int, size: int) -> int | None:
    """Count the bytes of one record after the other, until they are as many as demand a sync."""
    if not sync_bytes or not size:
        return None
    return next(read for read in count(1) if counted + read * size >= sync_bytes)


def _draw_copies(pick: Pick) -> Sequence[Any]:
    first = VersionCopy(
        sorted=pick.of((True, None)), start_of_push_timestamp=pick.of((0, 3)), chunked=False
    )
    copies = [
        replace(
            first, end_of_push_timestamp=pick.of((None, 0, 0, 7, 7, 8 if pick.one_in(8) else 7))
        )
        for _ in range(pick.integer(0, 4))
    ]
    if copies and pick.one_in(6):
        copies[-1] = replace(copies[-1], **{pick.of(("sorted", "chunked")): "another"})
    return (copies,)


def _draw_calls(pick: Pick) -> Sequence[Any]:
    calls: list[_Call] = []
    for number in range(pick.integer(1, 12)):
        value = None if pick.one_in(3) else b"%d" % number
        write = ("write", pick.of(("a", "a", "b", "c")), value)
        calls.append(pick.of((*(write,) * 7, *(("flush", "", None),) * 2, ("crash", "", None))))
    return (calls,)


def _draw_sizes(pick: Pick) -> Sequence[Any]:
    # What is counted is more than demands a sync where the one that was due has failed.
    sync_bytes = pick.of((0, pick.integer(1, 20), pick.integer(1, 20)))
    return sync_bytes, pick.integer(0, 50), pick.integer(0, 7)


CORES: Mapping[str, Callable[..., Any]] = {
    "agreed": agreed,
    "content": _core_content,
    "records_until_due": _core_records,
}
NAIVE: Mapping[str, Callable[..., Any]] = {
    "agreed": _agreed,
    "content": _content,
    "records_until_due": _records,
}
DRAWS: Mapping[str, Callable[[Pick], Sequence[Any]]] = {
    "agreed": _draw_copies,
    "content": _draw_calls,
    "records_until_due": _draw_sizes,
}
