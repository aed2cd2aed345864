"""Passes over the time in which a job repeats itself.

A job is looked at about every tenth of a second, until it shows the same twice (`steady.py`).  Then
nothing of a checkpoint or a recovery may be under way, and nothing planned for a while.  If so, the
clock is set to two periods of the output flushers before the next planned thing.  That is a
trigger, a failure, a change of rate, a stop, or the end of the run.  All that is under way is then
due later by as much (`translation.py`), and tasks have done meanwhile as much as arithmetic says
(`stretch.py`).  So all of these instants, and their consequences, are simulated buffer by buffer.

Anything in the calendar that is not known to repeat itself counts as planned.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ckptsim.scenarios.job import Skip
from ckptsim.sim.job.buffers.compiled.choice import is_covered
from ckptsim.sim.job.buffers.compiled.task import CompiledSource
from ckptsim.sim.job.buffers.kinds import Kind
from ckptsim.sim.job.buffers.output import Selectivity
from ckptsim.sim.job.buffers.restoring import TimedFailover
from ckptsim.sim.job.buffers.sampling import Sampling
from ckptsim.sim.job.buffers.skipping.steady import TICKS, Look, Steady, Window
from ckptsim.sim.job.buffers.skipping.stretch import (
    Stretch,
    is_held_up,
    late_ns,
    longest_ns,
    out_of,
    stretch_of,
)
from ckptsim.sim.job.buffers.skipping.translation import translate
from ckptsim.sim.job.buffers.timers import TaskTimers
from ckptsim.sim.job.control.sinks import Sinks
from ckptsim.sim.job.events import of_job
from ckptsim.sim.kernel import Timer

if TYPE_CHECKING:
    from ckptsim.scenarios.job import Edge, Job
    from ckptsim.sim.job.buffers.compiled import CompiledDriver
    from ckptsim.sim.job.buffers.world import DataflowWorld

MUCH = 20_000_000
"""Buffers that a run moves at least for its steady stretches to be passed over: some ten to twenty
seconds of CPU.  All else is simulated whole."""

_TICK_NS = 100_000_000
_LEAD, _LEAST = 2, 10  # of the periods of output flushers
_PHASES = 193
_FORGET_TICKS = 25  # a matter of memory alone
# What repeats itself: it comes later by as much as all else.
_REPEATED = (Sampling._sample, TaskTimers._debloat, TimedFailover._look)  # noqa: SLF001


def skips(job: Job) -> bool:
    """Return whether the steady stretches of a job are passed over."""
    if job.skip is not Skip.AUTO:
        return job.skip is Skip.ALWAYS
    return buffers_of(job) >= MUCH


def buffers_of(job: Job) -> float:
    """Estimate how many buffers a run moves: of each channel those that are flushed, or full."""
    total, network = 0.0, job.network
    vertices = {one.name: one for one in job.vertices}
    rates = {one.name: one.rate_per_s or 0.0 for one in job.vertices}
    for edge in job.edges:
        up, down = vertices[edge.upstream], vertices[edge.downstream]
        rates[down.name] += rates[up.name] * up.selectivity
        channels = up.parallelism * down.parallelism
        timeout_ns = network.buffer_timeout_ns
        flushed = min(rates[up.name], channels * 1e9 / timeout_ns) if timeout_ns else 0.0
        full = rates[up.name] * record_bytes(job, edge) / network.segment_bytes
        total += max(flushed, full)
    return total * job.duration_ns / 1e9


def record_bytes(job: Job, edge: Edge) -> int:
    """Return the mean size of the records of an edge."""
    vertex = next(one for one in job.vertices if one.name == edge.upstream)
    return edge.record_bytes or vertex.record_bytes or job.network.record_bytes


class Skipper:
    """Passes over the steady stretches of one run.

    passed_ns: the time of all so far.  is_used: it does.  All is simulated of a job that is fed
    from outside, is part of something larger, or is not run by the kernel.
    """

    def __init__(self, world: DataflowWorld) -> None:
        network = world.model.network
        alone = world.embedding.owner is None and world.embedding.reader is None
        self.is_used = alone and skips(world.model) and is_covered(world)
        self.passed_ns = 0
        self._world = world
        self._entity = world.env.entity("skipping")
        self._steady = Steady()
        self._attempt = self._ticks = 0
        period_ns = network.buffer_timeout_ns + world.constants.flusher_overshoot_ns
        period_ns = period_ns if network.buffer_timeout_ns else _TICK_NS
        # Of whole periods, so that flushes come as they would have.
        self._period_ns = period_ns * max(1, round(_TICK_NS / period_ns))
        # Each look is at another phase of them, and in a window they are evenly apart.
        self._tick_ns = self._period_ns + self._period_ns // TICKS + self._period_ns // _PHASES

    def start(self) -> None:
        """Begin to look, if anything is to be passed over."""
        if self.is_used:
            self._world.env.call_in(self._tick_ns, Kind.MEASURE, self._entity, self._tick)

    def _tick(self) -> None:
        world = self._world
        self._forget()
        if world.compiled is None or not self._is_quiet:
            self._steady.forget()
        else:
            if self._attempt != world.control.attempts:
                self._attempt = world.control.attempts
                self._steady.forget(level=True)
            window = self._steady.add(self._look(world.compiled))
            if window is not None:
                self._pass_over(world.compiled, window)
        self.start()

    @property
    def _is_quiet(self) -> bool:
        control = self._world.control
        return control.running and control.can_checkpoint and not control.coordinator.core.pending

    # Looking ----------------------------------------------------------------------------------

    def _look(self, driver: CompiledDriver) -> Look:
        world = self._world
        world.catch_up()
        inputs, outputs = driver.queued()
        done = [one.processed for one in world.tasks]
        for one in world.tasks:
            one.enter(one.state)
        names = [one.name for one in world.graph.vertices]
        by_vertex = [sum(done[number] for number in world.graph.tasks_of(name)) for name in names]
        return Look(
            at_ns=world.env.now,
            done=np.array(done, dtype=np.int64),
            by_vertex=np.array(by_vertex, dtype=np.int64),
            in_flight=np.array([self._in_flight(name) for name in names], dtype=np.int64),
            grain=np.array([self._grain(name) for name in names], dtype=np.int64),
            late_ns=np.array(
                [late_ns(one) if isinstance(one, CompiledSource) else 0 for one in world.tasks],
                dtype=np.int64,
            ),
            held_up=any(is_held_up(one) for one in world.tasks if isinstance(one, CompiledSource)),
            inputs=np.array(inputs, dtype=np.int64),
            outputs=np.array(outputs, dtype=np.int64),
            times=np.array([one.time_in for one in world.tasks], dtype=np.int64),
        )

    def _in_flight(self, name: str) -> int:
        """Return how many records were sent to a vertex that it has not processed."""
        world, sent = self._world, 0
        for edge in world.graph.edges:
            if edge.downstream == name:
                emitted = Selectivity(world.graph.vertex(edge.upstream).selectivity).emitted
                each = sum(emitted(one.processed) for one in world.tasks_of(edge.upstream))
                sent += world.graph.copies(edge) * each
        done = sum(one.processed for one in world.tasks_of(name))
        return sent - done if sent else 0

    def _grain(self, name: str) -> int:
        """Return how many records a full buffer to a vertex has at most."""
        model, edges = self._world.model, self._world.graph.edges
        sizes = [record_bytes(model, one) for one in edges if one.downstream == name]
        return max([1, *(model.network.segment_bytes // size for size in sizes)])

    # Passing over -----------------------------------------------------------------------------

    def _pass_over(self, driver: CompiledDriver, window: Window) -> None:
        """Set the clock to shortly before the next thing that is planned, if that is far off."""
        world, period_ns = self._world, self._period_ns
        entries = self._entries(driver)
        planned = [entry[0] for entry in entries if not _repeats(entry[4])]
        room_ns = min(planned) - world.env.now - _LEAD * period_ns
        longest = longest_ns(world, window)
        if longest is not None:
            room_ns = min(room_ns, longest)
        count = room_ns // period_ns
        if count < _LEAST:
            return
        stretch = stretch_of(world, window, count * period_ns)
        self._move(driver, entries, stretch)
        world.sampling.pass_over(window, stretch.lasts_ns)
        if world.timed is not None:
            self._move_lateness(window, stretch)
        self.passed_ns += stretch.lasts_ns
        self._steady.forget()
        world.env.trace.record("passed_over", self._entity, stretch.lasts_ns)
        world.events.emit(of_job.StretchPassedOver(stretch.lasts_ns, stretch.records))

    def _entries(self, driver: CompiledDriver) -> list[Any]:
        """Return the entries of the calendar that count, without the one of the kernel."""
        found = []
        for entry in self._world.env.calendar:
            item = entry[4]
            if isinstance(item, Timer) and (
                item.sequence != entry[3] or driver.stands_for(item) or _is_void(item)
            ):
                continue
            found.append(entry)
        return found

    def _move(self, driver: CompiledDriver, entries: list[Any], stretch: Stretch) -> None:
        world, lasts_ns = self._world, stretch.lasts_ns
        env = world.env
        for one in world.tasks:
            one.passed_over += stretch.records[one.number]
            out = out_of(world, one.number, stretch.records[one.number])
            one.passed_out += out
            for writer in one.writers:
                writer.pass_over(  # type: ignore[attr-defined] # the kernel's
                    stretch.records[one.number]
                )
        moved = []
        for entry in entries:
            if not _repeats(entry[4]):
                moved.append(entry)
                continue
            time, priority, _, sequence, item = entry
            tie = env.ties.tie(time + lasts_ns, item.kind, item.entity)
            moved.append((time + lasts_ns, priority, tie, sequence, item))
        env.rewrite(env.now + lasts_ns, moved)
        translate(driver, lasts_ns, records=stretch.records, turns=stretch.turns)
        driver.stand_anew()

    def _move_lateness(self, window: Window, stretch: Stretch) -> None:
        """Let records in flight be as late as at the end of the stretch, by their sources."""
        world = self._world
        turned = [turns[0].due_ns for turns in stretch.turns.values() if turns]
        due_ns = sum(turned) // len(turned) if turned else stretch.lasts_ns
        world.timed.lateness.pass_over(  # type: ignore[union-attr]
            world.env.now, stretch.lasts_ns, due_ns, is_late=window.is_late
        )

    def _forget(self) -> None:
        """Keep of all records those that may be asked for, now and then."""
        world = self._world
        self._ticks += 1
        if world.timed is not None and self._ticks % _FORGET_TICKS == 0:
            host = world.coordinator
            world.timed.lateness.forget(world.env.now, host.completed, host.core.pending)


def _repeats(item: Any) -> bool:
    return isinstance(item, Timer) and getattr(item.function, "__func__", None) in _REPEATED


def _is_void(item: Timer) -> bool:
    """Return whether an entry does nothing: the time-out of a transaction that has ended."""
    sinks = getattr(item.function, "__self__", None)
    return isinstance(sinks, Sinks) and not sinks.external.has_no_end(*item.arguments)
