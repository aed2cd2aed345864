"""Random streams of an attempt inside the kernel's memory: what services and wires draw from.

A stream continues where the attempt before has left it, as one with a name does elsewhere, also
when an attempt between had no such task or channel.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ckptsim.sim.job.buffers.compiled.columns import channel, stream

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ckptsim.sim.job.buffers.compiled.channel import CompiledChannel
    from ckptsim.sim.job.buffers.compiled.kernel.base.memory import Memory
    from ckptsim.sim.job.buffers.compiled.output import CompiledWriter
    from ckptsim.sim.job.buffers.compiled.task import CompiledTask
    from ckptsim.sim.job.buffers.world import DataflowWorld

Name = tuple[str, int]
"""Of a stream: component and index."""

_SERVICE = "service "
_WORD = 1 << 64
_SIGN = 1 << 63


class RandomStreams:
    """The streams of one attempt.

    graph: of the attempt with its tasks and channels.  services: where the ones of tasks begin.
    left: streams of attempts before, by name, as they were at the end of those.
    """

    def __init__(
        self,
        world: DataflowWorld,
        tasks: Sequence[CompiledTask],
        writers: Sequence[CompiledWriter],
        channels: Sequence[CompiledChannel],
        services: int,
    ) -> None:
        self.graph = world.graph
        self.services = services
        self.left: Mapping[Name, Memory] = {}
        self._env = world.env
        self._tasks = tasks
        self._writers = writers
        self._channels = channels
        self._jitters = world.model.network.jitter_ns > 0

    def fill(self, m: Memory, before: Memory | None, streams: RandomStreams | None) -> None:
        """Let them begin, or go on. before, streams: the ones of the attempt before, or None."""
        if before is None or streams is None:
            self._begin(m)
        elif streams.graph is self.graph:
            self.left = streams.left
            self._copy(m, before, streams)
        else:
            self.left = {**streams.left, **streams.states_in(before)}
            self._begin(m)

    def _copy(self, m: Memory, before: Memory, streams: RandomStreams) -> None:
        """Go on with the ones of the same tasks and channels."""
        count, first = len(self._tasks) * stream.WIDTH, streams.services
        m[self.services : self.services + count] = before[first : first + count]
        if self._channels:
            wires = slice(channel.STREAM, channel.STREAM + stream.WIDTH)
            self._wires(m)[:, wires] = streams._wires(before)[:, wires]

    def _wires(self, m: Memory) -> Memory:
        first, count = self._channels[0].row, len(self._channels)
        return m[first : first + count * channel.WIDTH].reshape(count, channel.WIDTH)

    def _begin(self, m: Memory) -> None:
        streams, rows = self._env.streams, self._rows()
        new = [name for name in rows if name not in self.left]
        wires = [name for name in new if not name[0].startswith(_SERVICE)]
        states = streams.states([component for component, _ in wires])
        for name, state in zip(wires, states, strict=True):
            seed(m, rows[name], state)
        for name in new:
            if name[0].startswith(_SERVICE):
                seed(m, rows[name], streams.stream(*name).state)
        for name, row in rows.items():
            if name in self.left:
                m[row : row + stream.WIDTH] = self.left[name]

    def _rows(self) -> dict[Name, int]:
        """Return by name where the streams are that something is drawn from."""
        found = {
            (_SERVICE + one.name, one.subtask): self.services + one.number * stream.WIDTH
            for one in self._tasks
            if one.variation
        }
        if self._jitters:
            names = [(f"wire {name}", 0) for one in self._writers for name in _names_of(one)]
            found |= zip(names, (one.row + channel.STREAM for one in self._channels), strict=True)
        return found

    def states_in(self, m: Memory) -> dict[Name, Memory]:
        """Return by name what the streams are like now."""
        rows = self._rows()
        return {name: m[row : row + stream.WIDTH].copy() for name, row in rows.items()}

    def give_back(self, m: Memory) -> None:
        """Let the streams of the run go on where its kernel has left them."""
        for name, words in {**self.left, **self.states_in(m)}.items():
            self._env.stream(*name).resume(_state(words))


def _names_of(one: CompiledWriter) -> list[str]:
    """Return the names of the channels of a writer, as their entities have them."""
    ends = [end.input_channel.gate for end in one.subpartitions]
    return [f"{one.component(gate)}[{gate.task.subtask}]" for gate in ends]


def seed(m: Memory, row: int, state: tuple[int, int]) -> None:
    """Set a stream: state and increment of PCG64, of 128 bits each."""
    words = [signed(word) for number in state for word in divmod(number, _WORD)]
    m[row : row + stream.WIDTH] = words


def _state(words: Memory) -> tuple[int, int]:
    """Return state and increment, from the words that `seed` sets."""
    state, state_low, step, step_low = (word % _WORD for word in words.tolist())
    return state * _WORD + state_low, step * _WORD + step_low


def signed(word: int) -> int:
    """Return the signed number that has the bits of an unsigned word."""
    return word - _WORD if word >= _SIGN else word
