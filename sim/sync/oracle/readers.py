"""The properties of readers of the source: what each has to itself while it reads."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ckptsim.sim.sync.attempt import Attempt
    from ckptsim.sim.sync.socket import Socket
    from ckptsim.sim.sync.world import SyncWorld

_OWN = "readers_have_their_own"


class ReaderChecks:
    """How many readers of an attempt are at work, and on which sockets."""

    def __init__(self, world: SyncWorld, violate: Callable[[str, str], None]) -> None:
        self._on_sockets = world.truth.on_sockets
        self._violate = violate
        self._busy: dict[int, None] = {}  # sockets
        self._count = 0

    def begin(self) -> None:
        """Begin an attempt, in which nobody reads yet."""
        self._busy.clear()
        self._count = 0

    def on_taken(self, attempt: Attempt, socket: Socket) -> None:
        """Check that who begins has a connection and, on sockets, a socket to itself."""
        self._count += 1
        most = attempt.model.source.connections
        if self._count > most:
            self._violate(_OWN, f"{self._count} read at once, with {most} connections")
        if self._on_sockets and socket.index in self._busy:
            self._violate(_OWN, f"two write to socket {socket.index} at once")
        self._busy[socket.index] = None

    def on_released(self, socket: Socket) -> None:
        """Note that one has ended."""
        self._count -= 1
        self._busy.pop(socket.index, None)
