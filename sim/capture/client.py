"""A client that asks one REST server, believes it nothing, and changes nothing there.

It sends GET and nothing else, to the one host that it was given: a redirect is refused rather than
followed.  Each answer has a deadline and a size beyond which it is refused, and has to be one whole
JSON text.  Every failure is a sentence with the path, the value found and the value expected.

A time-out of a socket bounds one silence, and a server that sends a byte now and then is never
silent.  Here every step has the time that is left: each address that is tried, the handshake, the
request, and every read of the answer, be it of a head, a chunk's size, a trailer or the body.
"""

from __future__ import annotations

import base64
import http.client
import io
import json
import socket
import ssl
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote, urlsplit

from ckptsim.scenarios.dialect import printable
from ckptsim.scenarios.errors import UserError


class Line:
    """A connection that looks like a socket to `http.client`. read_bytes: of the answer so far."""

    def __init__(self, timeout_s: float) -> None:
        self._ends_s = time.monotonic() + timeout_s
        self._socket: socket.socket | None = None
        self.read_bytes = 0

    def connect(self, host: str, port: int, context: ssl.SSLContext | None) -> Any:
        """Connect to the first address that answers. Raises OSError or TimeoutError."""
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
    def __init__(self, line: Line) -> None:
        super().__init__()
        self._line = line

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        return self._line.receive_into(buffer)


# Assumption: larger than any answer about a job of some thousand subtasks.
ANSWER_BYTES_MAX = 32 << 20
_CHUNK = 1 << 16
_LEVELS_MAX = 100  # an assumption: answers of the engine have fewer than 10


class CaptureError(UserError):
    """The server did not answer as Flink's does. status: of the HTTP answer, if any."""

    def __init__(self, says: str, status: int | None = None) -> None:
        super().__init__(says)
        self.status = status


@dataclass(frozen=True, slots=True)
class Server:
    """Where to ask: host, port, path before all paths, and whether it is encrypted."""

    host: str
    port: int
    prefix: str
    is_encrypted: bool
    credentials: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Body:
    """An answer: its bytes as they came, and what they mean."""

    raw: bytes
    value: Any


def server_of(url: str) -> Server:
    """Return the server that an address names. Raises CaptureError."""
    expected = "an address such as http://localhost:8081"
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise CaptureError(f"found {url[:200]!r}, expected {expected}") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise CaptureError(f"found {url[:200]!r}, expected {expected}")
    is_encrypted = parts.scheme == "https"
    credentials = None
    if parts.username is not None:
        pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        credentials = base64.b64encode(pair.encode()).decode()
    return Server(
        host=parts.hostname,
        port=port or (443 if is_encrypted else 80),
        prefix=parts.path.rstrip("/"),
        is_encrypted=is_encrypted,
        credentials=credentials,
    )


class Client:
    """Asks one server. timeout_s: for a whole answer. Headers go with every GET only."""

    def __init__(
        self,
        server: Server,
        *,
        headers: Mapping[str, str],
        timeout_s: float,
        context: ssl.SSLContext | None = None,
        bytes_max: int = ANSWER_BYTES_MAX,
    ) -> None:
        self._server = server
        self._headers = {"Accept": "application/json", "Accept-Encoding": "identity"}
        if server.credentials is not None:
            self._headers["Authorization"] = f"Basic {server.credentials}"
        self._headers |= headers
        self._timeout_s = timeout_s
        self._context = context
        self._bytes_max = bytes_max

    def get(self, path: str) -> Body:
        """Return one GET's JSON answer with status 200. Raises CaptureError for all else."""
        line = Line(self._timeout_s)
        connection = self._connection()
        try:
            connection.sock = line.connect(self._server.host, self._server.port, self._context)
            connection.request("GET", self._server.prefix + path, headers=self._headers)
            answer = connection.getresponse()
            self._check(path, answer)
            raw = self._read(path, answer)
        except CaptureError:
            raise
        except ssl.SSLError as error:
            expected = "a certificate that --ca or the system knows, or http instead of https"
            reason = getattr(error, "verify_message", None) or error.reason or "TLS failed"
            raise CaptureError(f"{path}: found {reason}, expected {expected}") from error
        except TimeoutError as error:
            found = f"{line.read_bytes:,} bytes so far" if line.read_bytes else "no answer"
            expected = f"all of it within {self._limit}"
            raise CaptureError(f"{path}: found {found}, expected {expected}") from error
        except http.client.IncompleteRead as error:
            found = f"{len(error.partial):,} bytes of an answer that was to be longer"
            raise CaptureError(f"{path}: found {found}, expected all of it") from error
        except (http.client.HTTPException, OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
            reason = printable(reason[:200])
            expected = f"an HTTP server at {self._server.host}:{self._server.port}"
            raise CaptureError(f"{path}: found {reason}, expected {expected}") from error
        finally:
            line.hang_up()
        return Body(raw, _json(path, raw))

    @property
    def _limit(self) -> str:
        return f"{self._timeout_s:g} s (--timeout)"

    def _connection(self) -> http.client.HTTPConnection:
        """Return what speaks HTTP. Its default port decides what the Host header says."""
        kind: type[http.client.HTTPConnection] = http.client.HTTPConnection
        if self._server.is_encrypted:
            kind = http.client.HTTPSConnection
        return kind(self._server.host, self._server.port)

    def _check(self, path: str, answer: http.client.HTTPResponse) -> None:
        status = answer.status
        if status in (401, 403):
            expected = "leave to read: a token with --header 'Authorization: Bearer ...'"
            raise CaptureError(f"{path}: found status {status}, expected {expected}", status)
        if 300 <= status < 400:
            place = printable((answer.getheader("Location") or "nowhere")[:200])
            expected = "an answer: give that address instead if you trust it"
            raise CaptureError(f"{path}: found a redirect to {place}, expected {expected}", status)
        if status != 200:
            raise CaptureError(f"{path}: found status {status}, expected 200", status)
        if 'rel="next"' in (answer.getheader("Link") or ""):
            raise CaptureError(f"{path}: found one page of several, expected the whole answer")
        kind = (answer.getheader("Content-Type") or "").partition(";")[0].strip().lower()
        if kind in ("text/html", "application/xhtml+xml"):
            expected = "JSON: is this the address of the REST server?"
            raise CaptureError(f"{path}: found a web page, expected {expected}")

    def _read(self, path: str, answer: http.client.HTTPResponse) -> bytes:
        """Read a body within the limit of size. The line has the deadline."""
        parts: list[bytes] = []
        size = 0
        while True:
            part = answer.read1(_CHUNK)
            if not part:
                break
            parts.append(part)
            size += len(part)
            if size > self._bytes_max:
                expected = f"at most {self._bytes_max >> 20} MiB"
                raise CaptureError(f"{path}: found an answer without an end, expected {expected}")
        # `read1` does not complain about a body that is shorter than its head has promised.
        if answer.length:
            found = f"{size:,} bytes, {answer.length:,} fewer than announced"
            raise CaptureError(f"{path}: found {found}, expected all of it")
        return b"".join(parts)


def _json(path: str, raw: bytes) -> Any:
    try:
        found = json.loads(raw.decode("utf-8"))
    except UnicodeDecodeError:
        raise CaptureError(f"{path}: found no text in UTF-8, expected JSON") from None
    except (ValueError, RecursionError):
        what = "a web page" if raw.lstrip()[:1] == b"<" else "no JSON"
        expected = "JSON: is this the address of the REST server?"
        raise CaptureError(f"{path}: found {what}, expected {expected}") from None
    level = [found]
    for _ in range(_LEVELS_MAX):
        level = [inner for one in level for inner in _inside(one)]
        if not level:
            return found
    raise CaptureError(f"{path}: found JSON nested deeper, expected {_LEVELS_MAX} levels at most")


def _inside(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def resolved(server: Server) -> None:
    """Check that the server's name is known. Raises CaptureError with a clear sentence."""
    try:
        socket.getaddrinfo(server.host, server.port, type=socket.SOCK_STREAM)
    except OSError as error:
        expected = "the name of a host"
        raise CaptureError(
            f"found {server.host!r} ({error.strerror}), expected {expected}"
        ) from error
