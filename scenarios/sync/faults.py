"""Faults of a sync as data: a closed union of frozen tables, each valid however it is built.

Every fault is finite: it strikes at an instant, at the n-th passing of a named point, or within a
window.  Occurrences are counted from 1 over the whole run, attempts included. Indexes of sockets
and readers from 0.  An occurrence that a run never reaches leaves the fault without effect.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from ckptsim.scenarios.fields import Planned, choice, count, duration_ns, flag, kinds_of, number

_OCCURRENCES = 100_000


class Side(StrEnum):
    """The process that a crash takes down."""

    SOURCE = "source"
    DESTINATION = "destination"


class Point(StrEnum):
    """A named point of the program at which a crash can be placed exactly."""

    AFTER_PACKET = "after_packet"  # the source has put a packet of records into a socket.
    AFTER_ABSORB = "after_absorb"  # a reader's result was absorbed, its states are queued.
    BEFORE_DRAIN = "before_drain"  # a reader is about to drain the queue of pending states.
    AFTER_COMPLETE = "after_complete"  # COMPLETE of a stream was published.
    AFTER_READ = "after_read"  # the destination has read a packet from a socket.
    AFTER_STATE = "after_state"  # the core has accepted a state.
    BEFORE_UPLOAD = "before_upload"  # a batch was closed, its upload has not begun.
    AFTER_UPLOAD = "after_upload"  # the batch is durable, its counts are not yet reported.
    AFTER_PERSIST = "after_persist"  # the counts of a batch were reported to the core.
    BEFORE_SEND = "before_send"  # a state was released by the core and is not yet sent.
    AFTER_SEND = "after_send"  # the platform has the state, the send has not returned.
    AFTER_ACKNOWLEDGE = "after_acknowledge"  # the send has returned.
    BEFORE_FINISH = "before_finish"  # all input is read and uploaded.
    BETWEEN_EFFECTS = "between_effects"  # of several effects of a core one more was carried out.


@dataclass(frozen=True, slots=True, kw_only=True)
class CrashAt(Planned):
    """The source or the destination crashes at an instant."""

    side: Side = choice("destination", Side, says="which process crashes")
    at_ns: int = duration_ns("5 ms", says="when, since the start of the run")


@dataclass(frozen=True, slots=True, kw_only=True)
class CrashPoint(Planned):
    """The source or the destination crashes when a named point is passed for the n-th time."""

    side: Side = choice("destination", Side, says="which process crashes")
    point: Point = choice("before_send", Point, says="where in the program")
    occurrence: int = count(1, minimum=1, maximum=_OCCURRENCES, says="at which passing, from 1")


@dataclass(frozen=True, slots=True, kw_only=True)
class SocketStall(Planned):
    """One socket delivers nothing for a while."""

    socket: int = count(0, maximum=1023, says="index of the socket, from 0")
    at_ns: int = duration_ns("2 ms", says="when the stall begins")
    duration_ns: int = duration_ns("50 ms", says="how long it lasts")


@dataclass(frozen=True, slots=True, kw_only=True)
class SlowUpload(Planned):
    """Uploads that begin within a window take several times as long."""

    at_ns: int = duration_ns("1 ms", says="when the window begins")
    duration_ns: int = duration_ns("1 s", says="how long it lasts")
    factor: float = number(10.0, minimum=1.0, maximum=1e6, says="how many times as long")


@dataclass(frozen=True, slots=True, kw_only=True)
class FailUpload(Planned):
    """The n-th upload begun, and perhaps those after it, fail after their time and are retried."""

    occurrence: int = count(
        1, minimum=1, maximum=_OCCURRENCES, says="first upload that fails, from 1"
    )
    uploads: int = count(1, minimum=1, maximum=1000, says="how many uploads in a row fail")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReorderUploads(Planned):
    """Uploads of one window complete in the reverse of the order in which they began."""

    occurrence: int = count(1, minimum=1, maximum=_OCCURRENCES, says="first upload of the window")
    uploads: int = count(2, minimum=2, maximum=64, says="how many uploads the window has")


@dataclass(frozen=True, slots=True, kw_only=True)
class FailSend(Planned):
    """The n-th send of a state, and perhaps those after it, raise. The platform gets nothing."""

    occurrence: int = count(
        1, minimum=1, maximum=_OCCURRENCES, says="first send that fails, from 1"
    )
    sends: int = count(1, minimum=1, maximum=1000, says="how many sends in a row fail")
    at_end: bool = flag(
        False, says="only sends count that begin while the sync waits for its end, its timer set"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SlowSend(Planned):
    """Sends that begin within a window take several times as long."""

    at_ns: int = duration_ns("1 ms", says="when the window begins")
    duration_ns: int = duration_ns("1 s", says="how long it lasts")
    factor: float = number(100.0, minimum=1.0, maximum=1e6, says="how many times as long")


@dataclass(frozen=True, slots=True, kw_only=True)
class IdCollision(Planned):
    """A reader draws the partition id that another reader has drawn before it."""

    feed: int = count(0, maximum=999, says="index of the feed, from 0")
    reader: int = count(1, maximum=_OCCURRENCES, says="which of its readers over the run, from 0")
    other_feed: int = count(0, maximum=999, says="feed of the other reader")
    other_reader: int = count(
        0, maximum=_OCCURRENCES, says="the other reader, with the id to draw again"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class StateFlood(Planned):
    """A feed emits many states without records between them, as a change log's heartbeat does."""

    feed: int = count(0, maximum=999, says="index of the feed, from 0")
    round: int = count(0, maximum=_OCCURRENCES, says="before which of its rounds")
    states: int = count(100, minimum=1, maximum=10_000, says="how many states")


@dataclass(frozen=True, slots=True, kw_only=True)
class CountError(Planned):
    """A reader's state claims a count of records that differs from what the reader emitted."""

    feed: int = count(0, maximum=999, says="index of the feed, from 0")
    reader: int = count(0, maximum=_OCCURRENCES, says="which of its readers over the run, from 0")
    records: int = count(
        1, minimum=-1000, maximum=1000, says="how many too many (negative: too few)"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderFailure(Planned):
    """A reader fails after its first packets. The later readers of its round are cancelled."""

    feed: int = count(0, maximum=999, says="index of the feed, from 0")
    reader: int = count(0, maximum=_OCCURRENCES, says="which of its readers over the run, from 0")
    packets: int = count(1, maximum=1000, says="after how many packets")


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatState(Planned):
    """A reader's state is sent twice, with the same key where there are keys."""

    feed: int = count(0, maximum=999, says="index of the feed, from 0")
    reader: int = count(0, maximum=_OCCURRENCES, says="which of its readers over the run, from 0")


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatIndex(Planned):
    """A reader's state carries the index of the state before it, and an id of its own."""

    feed: int = count(0, maximum=999, says="index of the feed, from 0")
    reader: int = count(1, maximum=_OCCURRENCES, says="which of its readers over the run, from 0")


@dataclass(frozen=True, slots=True, kw_only=True)
class MixedKind(Planned):
    """A reader's stream state is followed by a global one. Without effect in a global sync."""

    feed: int = count(0, maximum=999, says="index of the feed, from 0")
    reader: int = count(0, maximum=_OCCURRENCES, says="which of its readers over the run, from 0")


SyncFault: TypeAlias = (
    CrashAt
    | CrashPoint
    | SocketStall
    | SlowUpload
    | FailUpload
    | ReorderUploads
    | FailSend
    | SlowSend
    | IdCollision
    | StateFlood
    | CountError
    | ReaderFailure
    | RepeatState
    | RepeatIndex
    | MixedKind
)

SYNC_FAULTS: dict[str, type] = kinds_of(SyncFault)
