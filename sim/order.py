"""A destination that reads a catalog and Airbyte messages, and returns states when they may go.

Records become durable by batches of a size and an age, and by the delay of an upload.  Nothing here
looks at a clock: ages and delays are counted in messages read, so the same input gives the same
output on every machine.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from ckptsim.models import ordering
from ckptsim.models.core import ProtocolError
from ckptsim.models.ordering import CheckpointId, RecordsDurable, StreamDescriptor, wire
from ckptsim.models.ordering.events import PassRecords
from ckptsim.models.ordering.wire import WireError, parse_catalog, read_json
from ckptsim.scenarios.errors import UserError


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchRules:
    """How a destination batches and uploads.

    batch_records: a stream's batch is uploaded when it holds as many records.
    batch_age_messages: or when as many messages were read since its first record.
    upload_delay_messages: an upload is durable after as many further messages.
    """

    batch_records: int = 100
    batch_age_messages: int = 1000
    upload_delay_messages: int = 0


class Batch:
    """The records of one stream that wait for their upload, by checkpoint id."""

    __slots__ = ("counts", "records", "stream")

    def __init__(self, stream: StreamDescriptor) -> None:
        self.stream = stream
        self.records = 0
        self.counts: dict[CheckpointId, tuple[int, int]] = {}

    def add(self, passed: PassRecords) -> None:
        """Add records to the batch."""
        records, size_bytes = self.counts.get(passed.id, (0, 0))
        self.counts[passed.id] = (records + passed.count, size_bytes + passed.size_bytes)
        self.records += passed.count

    def reports(self) -> list[RecordsDurable]:
        """Return what to tell the core once the batch is durable, in the order of first records."""
        return [
            RecordsDurable(stream=self.stream, id=identity, count=records, size_bytes=size_bytes)
            for identity, (records, size_bytes) in self.counts.items()
        ]


class Pipeline:
    """The open batch of each stream, and the uploads under way."""

    def __init__(self, rules: BatchRules) -> None:
        self._rules = rules
        self._open: dict[StreamDescriptor, Batch] = {}
        self._ages: deque[tuple[int, Batch]] = deque()  # when each batch is too old, oldest first
        self._uploads: deque[tuple[int, Batch]] = deque()  # when each upload is durable, in order
        self.batches = 0

    def add(self, passed: PassRecords, now: int) -> None:
        """Take records that were read with message number `now`."""
        batch = self._open.get(passed.stream)
        if batch is None:
            batch = self._open[passed.stream] = Batch(passed.stream)
            self._ages.append((now + self._rules.batch_age_messages, batch))
        batch.add(passed)
        if batch.records >= self._rules.batch_records:
            self.upload(passed.stream, now)

    def upload(self, stream: StreamDescriptor, now: int) -> None:
        """Upload open work of a stream."""
        batch = self._open.pop(stream, None)
        if batch is not None:
            self._uploads.append((now + self._rules.upload_delay_messages, batch))
            self.batches += 1

    def due(self, now: int) -> list[RecordsDurable]:
        """Upload batches that are too old, and return the durable data by message `now`."""
        while self._ages and self._ages[0][0] <= now:
            _, batch = self._ages.popleft()
            if self._open.get(batch.stream) is batch:
                self.upload(batch.stream, now)
        reports: list[RecordsDurable] = []
        while self._uploads and self._uploads[0][0] <= now:
            reports += self._uploads.popleft()[1].reports()
        return reports

    def drain(self, now: int) -> list[RecordsDurable]:
        """Upload everything that is open, and return what becomes durable with it."""
        for stream in list(self._open):
            self.upload(stream, now)
        return self.due(now + self._rules.upload_delay_messages)


@dataclass(slots=True, kw_only=True)
class StreamSummary:
    """What came and went of one stream. Its states are the ones of the stream, not of the sync."""

    records_read: int = 0
    records_committed: int = 0
    bytes_committed: int = 0
    states_read: int = 0
    states_sent: int = 0
    status: str | None = None


@dataclass(slots=True, kw_only=True)
class Summary:
    """What came and went, and how it ended. `failure` is None when the sync ended well."""

    messages: int = 0
    records_read: int = 0
    records_committed: int = 0
    states_read: int = 0
    states_sent: int = 0
    batches: int = 0
    counts_differing: int = 0  # released states with another count than the source's. STDIO only
    streams: dict[ordering.StreamDescriptor, StreamSummary] = field(default_factory=dict)
    source_errors: list[str] = field(default_factory=list)
    failure: ordering.FailSync | None = None


class Destination:
    """Reads lines, batches records, and hands released states to `emit` as lines.

    catalog: the streams of the sync. None means that streams are announced as they come.
    """

    def __init__(
        self,
        core: ordering.OrderingDoor,
        medium: ordering.Medium,
        rules: BatchRules,
        emit: Callable[[str], None],
        *,
        catalog: tuple[ordering.StreamDescriptor, ...] | None = None,
    ) -> None:
        self._core = core
        self._medium = medium
        self._pipeline = Pipeline(rules)
        self._emit = emit
        self._catalog_is_closed = catalog is not None
        self.summary = Summary()
        for stream in catalog or ():
            self._of(stream)

    def read(self, line: bytes, number: int) -> None:
        """Take one line of the input. `number` counts lines from 1, for messages.

        Raises UserError when the line is not a message, or one that the core refuses.
        """
        text = _decoded(line, number)
        if not text.strip():
            return
        self.summary.messages += 1
        try:
            incoming = wire.parse_message(
                wire.read_json(text), medium=self._medium, size_bytes=len(line.strip())
            )
            self._take(incoming)
        except wire.WireError as error:
            raise UserError(f"line {number}: {error}") from error
        except ValueError as error:
            raise UserError(f"line {number}: found no JSON ({error}), expected a message") from None
        except ProtocolError as error:
            raise UserError(f"line {number}: refused, {_refusal(error)}") from error
        self._make_durable(self._pipeline.due(self.summary.messages))

    def finish(self) -> Summary:
        """End the input: everything becomes durable, then comes the verdict."""
        if not any(stream.status for stream in self.summary.streams.values()):
            # A source without stream statuses: its end represents all of them.
            for stream in self.summary.streams:
                self._feed(ordering.CompleteRead(stream=stream))
        self._feed(ordering.ChannelClosed(channel=0))
        self._make_durable(self._pipeline.drain(self.summary.messages))
        self._feed(ordering.FinishRequested())
        self.summary.batches = self._pipeline.batches
        return self.summary

    def _take(self, incoming: wire.Incoming) -> None:
        """Announce new streams, give the core the event, and count."""
        for stream in incoming.streams:
            self._announce(stream)
        event = incoming.event
        if event is not None:
            self._feed(event)
        if incoming.status is not None:
            self._of(incoming.streams[0]).status = incoming.status
        if incoming.error is not None:
            self.summary.source_errors.append(incoming.error)
        if isinstance(event, ordering.RecordsRead):
            self._of(event.stream).records_read += event.count
            self.summary.records_read += event.count
        elif isinstance(event, ordering.StateRead):
            self.summary.states_read += 1
            if event.stream is not None:
                self._of(event.stream).states_read += 1
            self._feed(ordering.FlushRequested())  # it may be ready already

    def _announce(self, stream: ordering.StreamDescriptor) -> None:
        if stream in self.summary.streams:
            return
        if self._catalog_is_closed:
            raise ProtocolError(ordering.Refusal.UNKNOWN_STREAM, state=f"stream {stream}")
        self._feed(ordering.StreamAnnounced(stream=stream))
        self._of(stream)

    def _of(self, stream: ordering.StreamDescriptor) -> StreamSummary:
        return self.summary.streams.setdefault(stream, StreamSummary())

    def _make_durable(self, reports: list[ordering.RecordsDurable]) -> None:
        for report in reports:
            self._feed(report)
        if reports:
            self._feed(ordering.FlushRequested())

    def _feed(self, event: ordering.Event) -> None:
        for effect in ordering.drive(self._core, event, self._send):
            self._carry_out(effect)

    def _carry_out(self, effect: ordering.Effect) -> None:
        match effect:
            case ordering.PassRecords():
                self._pipeline.add(effect, self.summary.messages)
            case ordering.EndStream():
                self._pipeline.upload(effect.stream, self.summary.messages)
            case ordering.FailSync():
                self.summary.failure = effect
            case _:
                pass  # nothing to open, close or time here

    def _send(self, effect: ordering.SendState) -> bool:
        self._emit(wire.write_json(wire.render_state(effect, medium=self._medium)))
        self.summary.states_sent += 1
        if effect.source_count not in (None, effect.statistics.destination.accounted):
            self.summary.counts_differing += 1
        total = effect.statistics.total
        if effect.scope is None:
            self.summary.records_committed = total.records
            return True
        of_stream = self._of(effect.scope)
        self.summary.records_committed += total.records - of_stream.records_committed
        of_stream.records_committed = total.records
        of_stream.bytes_committed = total.size_bytes
        of_stream.states_sent += 1
        return True


def _decoded(line: bytes, number: int) -> str:
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UserError(f"line {number}: found no UTF-8 ({error.reason}), expected text") from error


def _refusal(error: ProtocolError) -> str:
    """Return a refusal without its event, which is the line."""
    parts = [error.kind, *([error.state] if error.state else []), *error.story]
    return ", ".join(str(part) for part in parts)


def read_catalog(path: Path) -> tuple[StreamDescriptor, ...]:
    """Return the streams of a configured catalog, in its order.

    Raises UserError when the file cannot be read as one.
    """
    try:
        return parse_catalog(read_json(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from error
    except WireError as error:
        raise UserError(f"{path}: {error}") from error
    except ValueError as error:
        raise UserError(f"{path}: found no JSON ({error}), expected a catalog") from error
