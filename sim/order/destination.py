"""A destination that reads a catalog and Airbyte messages, and returns states when they may go."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from ckptsim.models import ordering
from ckptsim.models.core import ProtocolError
from ckptsim.models.ordering import StreamDescriptor, wire
from ckptsim.models.ordering.wire import WireError, parse_catalog, read_json
from ckptsim.scenarios.errors import UserError
from ckptsim.sim.order.batches import BatchRules, Pipeline


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
