"""An event that happens again and again, for a process that waits for it again and again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import simpy

from ckptsim.sim.kernel.errors import KernelError

if TYPE_CHECKING:
    from ckptsim.sim.kernel.environment import Environment


class Signal(simpy.Event):
    """What a process waits for until it is woken: `yield signal` waits for the next time.

    It keeps no entry in the calendar.  Timers make it happen, each at its place among the
    simultaneous events of its entity: `env.timer(kind, entity, signal.happen, kind)`; the process
    gets the value and so knows which one it was.  What happens while nobody waits is forgotten, so
    whoever waits has looked at everything before.
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
        """Let whoever waits continue now, in the present calendar entry.

        Raises KernelError inside a process: one process cannot run within another.
        """
        if self.env.active_process is not None:
            raise KernelError("signal: happens inside a process, expected a timer's call")
        self._value = value
        callbacks, self.callbacks = self.callbacks, []
        for callback in callbacks:
            callback(self)
