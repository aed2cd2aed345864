"""SimPy's events with an owner, and one that happens again and again.

Each event knows the entity that it concerns, because the order of simultaneous events follows from
that and not from the order of scheduling.  The constructors set SimPy's own attributes. SimPy's
constructors would enter an event into the calendar before it has an owner (`Timeout`, `Process`),
or cost a call for nothing (`Event`).
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any

import simpy
from simpy.events import NORMAL, Initialize

from ckptsim.sim.kernel.entity import KIND_ORDINARY, Entity, KernelError, refused_time

if TYPE_CHECKING:
    from ckptsim.sim.kernel.environment import Environment

ProcessGenerator = Generator[Any, Any, Any]


class Event(simpy.Event):
    """A SimPy event that belongs to the entity that was active when it was made."""

    def __init__(self, env: Environment) -> None:
        self.env = env
        self.callbacks: Any = []
        self.entity = env.active_entity


class Timeout(simpy.Timeout):
    """A SimPy timeout, in ns. `kind` places it among the simultaneous events of its entity."""

    def __init__(
        self, env: Environment, delay: int, value: object = None, *, kind: int = KIND_ORDINARY
    ) -> None:
        if delay.__class__ is not int or delay < 0:
            raise refused_time("delay", delay, 0)
        self.env = env
        self.callbacks: Any = []
        self._value = value
        self._delay = delay
        self._ok = True
        try:
            entity = env._active_proc.entity  # noqa: SLF001 - as `active_entity`, without a call
        except AttributeError:
            entity = env.active_entity
        self.entity = entity
        env.push(env._now + delay, NORMAL, kind, entity, self)  # noqa: SLF001


class Process(simpy.events.Process):
    """A SimPy process that belongs to an entity and is kept account of until it ends.

    Without an entity it becomes a child of the active one, named after its generator, so that its
    place among ties does not depend on what else was started before.
    on: a signal that begins it when it happens. Without one it begins at once.
    """

    def __init__(
        self,
        env: Environment,
        generator: ProcessGenerator,
        *,
        entity: Entity | None = None,
        on: Signal | None = None,
    ) -> None:
        if not hasattr(generator, "throw"):
            raise ValueError(f"{generator} is not a generator.")
        self.env = env
        self.callbacks: Any = []
        self.entity = env.child_entity(generator) if entity is None else entity
        self._generator = generator
        self._send = generator.send
        # One bound method for the life of the process: SimPy makes one per wait.
        self._resume: Callable[[Any], None] = self._advance
        self.number = env.register(self)
        self._target: Any = on
        if on is None:
            self._target = Initialize(env, self)
        else:
            on.callbacks.append(self._resume)

    def _advance(self, event: Any) -> None:
        """Resume the generator with the outcome of `event`. Follow it until it waits or ends."""
        # A yielded event without callbacks left (`callbacks is None`) has happened: the loop takes
        # its outcome and continues at once, without an entry in the calendar.  Only an event that
        # has not happened gets this process among its callbacks, and ends the loop.
        env = self.env
        env._active_proc = self  # noqa: SLF001 - SimPy's own name for it
        while True:
            try:
                if event._ok:  # noqa: SLF001
                    event = self._send(event._value)  # noqa: SLF001
                else:
                    # The error reaches someone who can handle it, so it does not end the run.
                    event._defused = True  # noqa: SLF001
                    event = self._generator.throw(_exclusive(event._value))  # noqa: SLF001
            except StopIteration as stop:
                self._end(ok=True, value=stop.value)
                event = None
                break
            except BaseException as error:  # noqa: BLE001 - a process fails with whatever it raised
                if error.__traceback__ is not None:  # without the frame of this method
                    error.__traceback__ = error.__traceback__.tb_next
                self._end(ok=False, value=error)
                event = None
                break
            try:
                callbacks = event.callbacks
            except AttributeError:
                raise KernelError(
                    f"process {self.entity.name}: found {event!r} yielded, expected an event"
                ) from None
            if callbacks is not None:
                callbacks.append(self._resume)
                break
        self._target = event
        env._active_proc = None  # noqa: SLF001

    def stop(self) -> None:
        """End the process where it waits, as a crash does. It cannot stop itself."""
        if not self.is_alive:
            return
        # Order matters: first the event that it waits for forgets it, or that event would resume a
        # closed generator. Then the generator runs its `finally` blocks, which give up requests.
        # Then it counts as ended, without an entry in the calendar that would wake who waits.
        callbacks = None if self._target is None else self._target.callbacks
        if callbacks is not None and self._resume in callbacks:
            callbacks.remove(self._resume)
        self._generator.close()
        self.env.unregister(self)
        self._ok = True
        self._value: object = None
        self.callbacks = None

    def _end(self, *, ok: bool, value: object) -> None:
        self._ok = ok
        self._value = value
        env: Environment = self.env
        env.unregister(self)
        env.push(env.now, NORMAL, KIND_ORDINARY, self.entity, self)


class Signal(simpy.Event):
    """What a process waits for until it is woken: `yield signal` waits for the next time.

    It keeps no entry in the calendar.  Timers make it happen, each at its place among the
    simultaneous events of its entity: `env.timer(kind, entity, signal.happen, kind)`. The process
    gets the value and so knows which one it was.  What happens while no one waits is forgotten, so
    anyone who waits has looked at everything before.
    """

    _ok = True

    def __init__(self, env: Environment) -> None:
        self.env = env
        self.entity = env.active_entity
        self._value: Any = None
        # Never None, as it is of an event that has happened: a process that yields the signal
        # always waits.
        self.callbacks: Any = []

    def happen(self, value: object = None) -> None:
        """Let anyone who waits continue now. Raises KernelError inside a process."""
        if self.env.active_process is not None:
            raise KernelError("signal: happens inside a process, expected a timer's call")
        self._value = value
        callbacks, self.callbacks = self.callbacks, []
        for callback in callbacks:
            callback(self)


def _exclusive(error: BaseException) -> BaseException:
    """Copy an exception for one of several waiting processes, as SimPy does, where that works."""
    try:
        copy = type(error)(*error.args)
    except TypeError:  # its constructor takes other arguments than it keeps
        return error
    copy.__cause__ = error
    return copy
