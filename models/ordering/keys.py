"""The names of the ordering protocol: streams, media, kinds of state, levels, checkpoint keys."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum

# The wire's `partition_id`: unique, unordered; says *which records* a state covers.
CheckpointId = str
# The wire's `id`: 1, 2, 3, ... without gaps; says *when* a state may be released.
CheckpointIndex = int


@dataclass(frozen=True, slots=True)
class StreamDescriptor:
    """A stream's identity: its name and namespace, never a text joined from the two.

    Source: airbytehq/airbyte protocol, `StreamDescriptor`.  Joined texts collide: `a-b` + `c` and
    `a` + `b-c` are different streams.
    """

    name: str
    namespace: str | None = None

    def __str__(self) -> str:
        return self.name if self.namespace is None else f"{self.namespace}.{self.name}"


# What a sequence of states belongs to: one stream, or (None) the whole sync.
Scope = StreamDescriptor | None


def scope_text(scope: Scope) -> str:
    """Return the scope as the result tables spell it: the stream, or `*` for the whole sync."""
    return "*" if scope is None else str(scope)


class Medium(IntEnum):
    """How records and states travel: one ordered pipe, or several unordered sockets."""

    STDIO = 1
    SOCKET = 2


class StateKind(IntEnum):
    """What a state speaks of: one stream, the whole sync, or the whole sync with own partitions."""

    STREAM = 1
    GLOBAL = 2
    SNAPSHOT = 3


class Level(IntEnum):
    """How durable records are; COMPLETE implies PERSISTED and counts the same records again."""

    PERSISTED = 1
    COMPLETE = 2


class Verdict(IntEnum):
    """How the processing of a stream ended; the first verdict sticks."""

    PENDING = 0
    SUCCEEDED = 1
    FAILED = 2


@dataclass(frozen=True, slots=True, order=True)
class CheckpointKey:
    """Index and id of a state; compared by the index alone.

    Source: airbytehq/airbyte, PR #60886.
    """

    index: CheckpointIndex
    id: CheckpointId = field(compare=False)
