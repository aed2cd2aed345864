"""What each task of an attempt reads of data in flight: in which order, and in how many requests.

A reader takes chunk after chunk.  A chunk that does not lie after the last one begins with a
request.  In a file that subtasks share, the next buffer of a subtask lies beyond the ones of
others, so each buffer is a request.

Assumption: an object of a log keeps the buffers of each channel together, as files do.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ckptsim.models.recovery.persistence import Files
from ckptsim.scenarios.job import Recovered
from ckptsim.sim.job.buffers.restoring.rescale import Share, in_flight_of
from ckptsim.sim.job.buffers.state import BUFFER_HEADER_BYTES, groups_of
from ckptsim.sim.job.channel_state_reads import Chunk, End, files_of, reader_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ckptsim.sim.job.buffers.restoring.rescale import Rescaled
    from ckptsim.sim.job.buffers.state import BufferSnapshot, Span
    from ckptsim.sim.job.control.checkpoint import JobCheckpoint
    from ckptsim.sim.job.graph import ChannelSpec, Graph


@dataclass(frozen=True, slots=True, kw_only=True)
class InFlightChunk:
    """A chunk that a task puts back. place: of the channel among its inputs or outputs.

    begins: reading it begins with a request. scattered: each of its buffers does.
    """

    place: int
    chunk: Chunk
    spans: Sequence[Span]
    begins: bool = False
    scattered: bool = False

    def requests(self) -> Iterator[tuple[int, bool]]:
        """Yield for each buffer its bytes in the file, and whether it is requested by itself."""
        for number, (size, _) in enumerate(self.spans):
            yield size + BUFFER_HEADER_BYTES, self.scattered or (self.begins and not number)


class InFlightReads:
    """The reads of one attempt. graph: of the job as it is.

    held: the checkpoint, with the numbers of its tasks.
    inputs, outputs: what each task puts back there, in the order of its reads.
    """

    def __init__(self, graph: Graph, held: JobCheckpoint, rescaled: Rescaled | None) -> None:
        table = graph.job.channel_state
        self.held = held
        self._old = graph if rescaled is None else rescaled.old
        self._taken = held if rescaled is None else rescaled.taken
        self._is_logged = table.is_logged
        groups = groups_of(self._old)
        self._files = Files(files_of(self._old, groups, self._holds))
        crowd = Counter(groups)
        self._scattered = [crowd[group] > 1 for group in groups]
        inputs: list[list[InFlightChunk]] = [[] for _ in graph.tasks]
        outputs: list[list[InFlightChunk]] = [[] for _ in graph.tasks]
        for channel in graph.channels:
            sender, receiver = channel.upstream, channel.downstream
            for one in self._shares(channel, rescaled):
                for chunk, spans in self._chunks(one).items():
                    reader = reader_of(chunk[0], table, sender=sender, receiver=receiver)
                    at_input = reader == receiver
                    place = channel.input if at_input else channel.output
                    found = InFlightChunk(place=place, chunk=chunk, spans=spans)
                    (inputs if at_input else outputs)[reader].append(found)
        if table.recovered is Recovered.JOINED:
            # Descriptors distinguish the parts, so a reader takes one file after the other.
            for each in inputs:
                each.sort(key=lambda one: one.chunk[0] != "input")
        if rescaled is None:
            # A sender fills its queues in parallel, so it reads its log object by object.
            for each in outputs:
                each.sort(key=lambda one: one.chunk[2])
        self.inputs = [self._in_pieces(each) for each in inputs]
        self.outputs = [self._in_pieces(each) for each in outputs]

    def _shares(self, channel: ChannelSpec, rescaled: Rescaled | None) -> Sequence[Share]:
        if rescaled is not None:
            return rescaled.shares.get((channel.downstream, channel.input), ())
        received, sent = in_flight_of(self._taken, channel)
        return (Share(old=channel, received=received, sent=sent),)

    def _chunks(self, share: Share) -> dict[Chunk, Sequence[Span]]:
        """Return the chunks of an old channel with data, oldest first, each with its buffers."""
        channel = share.old
        if not self._is_logged:
            ends: tuple[tuple[End, Sequence[Span]], ...]
            ends = ("input", share.received), ("output", share.sent)
            return {(end, channel.index, 0): spans for end, spans in ends if spans}
        found: dict[Chunk, list[Span]] = {}
        sender: BufferSnapshot | None = self._taken.tasks.get(channel.upstream)
        objects = [] if sender is None else [*sender.log.get(channel.output, ())]
        number, left = objects.pop() if objects else (0, 0)
        # In-flight data is the end of the log: from there back, object by object.
        for span in reversed((*share.received, *share.sent)):
            while left <= 0 and objects:
                number, size = objects.pop()
                left += size
            left -= span[0]
            found.setdefault(("log", channel.index, number), []).append(span)
        return {chunk: found[chunk][::-1] for chunk in reversed(found)}

    def _holds(self, end: End, channel: ChannelSpec) -> list[int]:
        received, sent = in_flight_of(self._taken, channel)
        chunks = self._chunks(Share(old=channel, received=received, sent=sent))
        return [chunk[2] for chunk in chunks if chunk[0] == end]

    def _in_pieces(self, chunks: Sequence[InFlightChunk]) -> list[InFlightChunk]:
        """Return chunks with where a request begins."""
        found = []
        begins = self._files.begins(one.chunk for one in chunks)
        for one, begins_here in zip(chunks, begins, strict=True):
            end, channel, _ = one.chunk
            spec = self._old.channels[channel]
            writer = spec.downstream if end == "input" else spec.upstream
            scattered = end != "log" and self._scattered[writer]
            kept = InFlightChunk(
                place=one.place,
                chunk=one.chunk,
                spans=one.spans,
                begins=begins_here,
                scattered=scattered,
            )
            found.append(kept)
        return found

    def of_task(self, task: int) -> tuple[int, int]:
        """Return how many files a task opens, and with how many requests it reads."""
        chunks = [*self.inputs[task], *self.outputs[task]]
        handles = [self._files.handle(one.chunk) for one in chunks]
        pieces = sum(asks for one in chunks for _, asks in one.requests())
        return len({one.file for one in handles if one is not None}), pieces
