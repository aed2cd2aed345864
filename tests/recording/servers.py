"""A REST server on the loopback that answers from a recording, or badly."""

from __future__ import annotations

import json
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import chain, repeat
from pathlib import Path
from typing import Any

from ckptsim.sim.recording import INDEX

Answerer = Callable[[BaseHTTPRequestHandler, bytes], None]


@dataclass
class Recorded:
    """Answers of a recording: to each GET in their order, the last one for ever.

    bad: a part of a path -> what happens instead of the answer.  asked: every request line and
    header that came.
    """

    folder: Path
    bad: dict[str, Answerer] = field(default_factory=dict)
    asked: list[tuple[str, str, dict[str, str]]] = field(default_factory=list)
    token: str | None = None

    def __post_init__(self) -> None:
        self._answers: dict[str, list[bytes]] = {}
        for entry in json.loads((self.folder / INDEX).read_text())["answers"]:
            path = entry["path"].partition("?get=")[0]
            kind = path + ("?get" if "?get=" in entry["path"] else "")
            self._answers.setdefault(kind, []).append((self.folder / entry["file"]).read_bytes())
        self.job = next(p.split("/")[2] for p in self._answers if p.startswith("/jobs/"))

    def body(self, path: str) -> bytes | None:
        """Return the next answer to a GET, None where there is none."""
        if path == "/jobs/overview":
            jobs = [{"jid": self.job, "name": "recorded", "state": "RUNNING"}]
            return json.dumps({"jobs": jobs}).encode()
        head, is_get, _ = path.partition("?get=")
        answers = self._answers.get(head + ("?get" if is_get else ""))
        if not answers:
            return None
        return answers.pop(0) if len(answers) > 1 else answers[0]


def _handler(recorded: Recorded) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            recorded.asked.append((self.command, self.path, dict(self.headers)))
            if recorded.token is not None and self.headers.get("X-Token") != recorded.token:
                send(self, b'{"errors":["Unauthorized"]}', status=401)
                return
            body = recorded.body(self.path)
            for part, answer in recorded.bad.items():
                if part in self.path:
                    answer(self, body or b"{}")
                    return
            send(self, body or b'{"errors":["Not found"]}', status=200 if body else 404)

        def _refuse(self) -> None:
            recorded.asked.append((self.command, self.path, dict(self.headers)))
            send(self, b"{}", status=405)

        do_POST = do_PUT = do_PATCH = do_DELETE = _refuse  # noqa: N815

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    return Handler


def send(
    handler: BaseHTTPRequestHandler,
    body: bytes,
    *,
    status: int = 200,
    headers: dict[str, str] | None = None,
) -> None:
    """Send a whole answer."""
    handler.send_response(status)
    sent = {"Content-Type": "application/json", "Content-Length": str(len(body))} | (headers or {})
    for name, value in sent.items():
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(body)


class _Server(ThreadingHTTPServer):
    """Says nothing of clients that hang up, as some do when they have seen enough of an answer."""

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Tell of everything else."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


@contextmanager
def serving(recorded: Recorded) -> Iterator[str]:
    """Serve a recording for a while. Yield the address."""
    server = _Server(("127.0.0.1", 0), _handler(recorded))
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


# Bad answers -------------------------------------------------------------------------------------


def _head(handler: BaseHTTPRequestHandler, length: int | None) -> None:
    handler.send_response(200)
    handler.send_header("Content-Type", "application/json")
    if length is None:
        handler.send_header("Connection", "close")
    else:
        handler.send_header("Content-Length", str(length))
    handler.end_headers()
    handler.close_connection = True


def endless(handler: BaseHTTPRequestHandler, _: bytes) -> None:
    """Send blanks for ever."""
    _head(handler, None)
    try:
        while True:
            handler.wfile.write(b" " * 65_536)
    except OSError:
        return


def dripping(handler: BaseHTTPRequestHandler, body: bytes) -> None:
    """Send one byte now and then, so that there is never silence."""
    _head(handler, len(body) + 1000)
    try:
        for byte in body:
            handler.wfile.write(bytes([byte]))
            time.sleep(0.02)
    except OSError:
        return


def silent(handler: BaseHTTPRequestHandler, _: bytes) -> None:
    """Accept the request and say nothing."""
    time.sleep(3)
    handler.close_connection = True


def truncated(handler: BaseHTTPRequestHandler, body: bytes) -> None:
    """Send half of everything that was announced."""
    _head(handler, len(body))
    handler.wfile.write(body[: len(body) // 2])


def torn(handler: BaseHTTPRequestHandler, body: bytes) -> None:
    """Send half of an answer as if it were all."""
    send(handler, body[: len(body) // 2])


def elsewhere(handler: BaseHTTPRequestHandler, _: bytes) -> None:
    """Redirect to another host."""
    send(handler, b"", status=302, headers={"Location": "http://evil.example/steal"})


def web_page(handler: BaseHTTPRequestHandler, _: bytes) -> None:
    """Send a page, as a gateway before its log-in does."""
    send(handler, b"<html>Log in</html>", headers={"Content-Type": "text/html; charset=utf-8"})


def page_as_json(handler: BaseHTTPRequestHandler, _: bytes) -> None:
    """Send a page that claims to be JSON."""
    send(handler, b"\n<!doctype html><html></html>")


def one_page(handler: BaseHTTPRequestHandler, body: bytes) -> None:
    """Send the first page of several."""
    send(handler, body, headers={"Link": '</jobs?page=2>; rel="next"'})


def broken(handler: BaseHTTPRequestHandler, _: bytes) -> None:
    """Fail inside."""
    send(handler, b'{"errors":["Internal server error."]}', status=500)


def hung_up(handler: BaseHTTPRequestHandler, _: bytes) -> None:
    """Close the connection without a word."""
    handler.connection.shutdown(socket.SHUT_RDWR)
    handler.close_connection = True


def no_text(handler: BaseHTTPRequestHandler, _: bytes) -> None:
    """Send bytes that are no text."""
    send(handler, b"\xff\xfe\x00garbage")


def nested(handler: BaseHTTPRequestHandler, _: bytes) -> None:
    """Send JSON that is nested too deeply to read."""
    send(handler, b"[" * 200_000)


def _raw(handler: BaseHTTPRequestHandler, parts: Iterable[bytes]) -> None:
    """Send pieces as they are, a little apart, until the client hangs up."""
    handler.close_connection = True
    try:
        for part in parts:
            handler.wfile.write(part)
            time.sleep(0.02)
    except OSError:
        return


def dripping_head(handler: BaseHTTPRequestHandler, _: bytes) -> None:
    """Begin an answer and send its headers one byte at a time, for ever."""
    _raw(handler, chain([b"HTTP/1.1 200 OK\r\nX-Long: "], repeat(b"a")))


def continuing(handler: BaseHTTPRequestHandler, _: bytes) -> None:
    """Say for ever that the client may continue."""
    _raw(handler, repeat(b"HTTP/1.1 100 Continue\r\n\r\n"))


_CHUNKED = (
    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
)


def dripping_chunk_size(handler: BaseHTTPRequestHandler, _: bytes) -> None:
    """Send the size of a chunk one blank at a time."""
    _raw(handler, chain([_CHUNKED, b"1"], repeat(b" ")))


def dripping_trailers(handler: BaseHTTPRequestHandler, _: bytes) -> None:
    """Send a whole body, and then trailers without end."""
    _raw(handler, chain([_CHUNKED, b"2\r\n{}\r\n0\r\n"], repeat(b"X-More: 1\r\n")))
