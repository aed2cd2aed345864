"""Messages on their way, of which each has to arrive within some time."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from ckptsim.sim.job.oracle.view import PlaneView
    from ckptsim.sim.kernel import Environment

Key = tuple[int, int]
"""The task that sends or gets a message, by number, and the checkpoint that it is about."""


class OnWay:
    """When each message was sent that has not arrived."""

    def __init__(self, env: Environment, plane: PlaneView) -> None:
        self._env = env
        self._plane = plane
        self._sent_ns: dict[Key, int] = {}

    def sent(self, key: Key) -> None:
        """Expect that a message arrives."""
        self._sent_ns[key] = self._env.now

    def came(self, key: Key) -> None:
        """Note that it has, or that nobody expects it any more."""
        self._sent_ns.pop(key, None)

    def forget(self, unexpected: Callable[[Key], bool]) -> None:
        """Expect some of them no more."""
        self._sent_ns = {k: sent for k, sent in self._sent_ns.items() if not unexpected(k)}

    def overdue(self) -> list[tuple[Key, int]]:
        """Take out those that are late, with when they were sent; oldest first."""
        if not self._sent_ns:
            return []
        due_ns = self._env.now - self._plane.messages_ns - self._plane.faults.longest_ns
        late = [(key, sent) for key, sent in self._sent_ns.items() if sent < due_ns]
        for key, _ in late:
            del self._sent_ns[key]
        return late

    def clear(self) -> None:
        """Forget an attempt."""
        self._sent_ns.clear()
