"""A connection with one deadline for all that is done on it.

A time-out of a socket bounds one silence, and a server that sends a byte now and then is never
silent.  Here every step has the time that is left: each address that is tried, the handshake, the
request, and every read of the answer, be it of a head, a chunk's size, a trailer or the body.
"""

from __future__ import annotations

import io
import socket
import ssl
import time
from typing import Any


class Line:
    """A connection to a server, which looks like a socket to `http.client`.

    read_bytes: of the answer so far.
    """

    def __init__(self, timeout_s: float) -> None:
        self._ends_s = time.monotonic() + timeout_s
        self._socket: socket.socket | None = None
        self.read_bytes = 0

    def connect(self, host: str, port: int, context: ssl.SSLContext | None) -> Any:
        """Connect to the first address of a host that answers, and return the line.

        Raises OSError, and TimeoutError when the time is over.
        """
        refused: OSError = ConnectionError("no address")
        for family, kind, number, _, address in socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM
        ):
            found = self._socket = socket.socket(family, kind, number)
            try:
                found.settimeout(self._left_s())
                found.connect(address)
                break
            except OSError as error:
                found.close()
                refused = error
        else:
            raise refused
        found.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if context is not None:
            self._socket = context.wrap_socket(
                found, server_hostname=host, do_handshake_on_connect=False
            )
            self._socket.settimeout(self._left_s())
            self._socket.do_handshake()
        return self

    def _left_s(self) -> float:
        left_s = self._ends_s - time.monotonic()
        if left_s <= 0:
            raise TimeoutError
        return left_s

    def sendall(self, data: bytes) -> None:
        """Send all of the data in the time that is left."""
        self._open().settimeout(self._left_s())
        self._open().sendall(data)

    def receive_into(self, buffer: memoryview) -> int:
        """Fill a buffer with what comes next. Return how many bytes that is."""
        self._open().settimeout(self._left_s())
        count = self._open().recv_into(buffer)
        self.read_bytes += count
        return count

    def makefile(self, _mode: str) -> io.BufferedReader:
        """Return the answer as a file."""
        return io.BufferedReader(_Answer(self))

    def close(self) -> None:
        """Leave the connection open: `http.client` closes what it still reads from."""

    def hang_up(self) -> None:
        """Close the connection."""
        if self._socket is not None:
            self._socket.close()

    def _open(self) -> socket.socket:
        if self._socket is None:
            raise ConnectionError("not connected")
        return self._socket


class _Answer(io.RawIOBase):
    """The bytes that a line brings."""

    def __init__(self, line: Line) -> None:
        super().__init__()
        self._line = line

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        return self._line.receive_into(buffer)
