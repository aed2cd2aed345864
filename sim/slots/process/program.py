"""A program that runs cores of one slot: started, spoken to line by line, ended.

A conversation has one partner at a time: a line out, a line in.  Whatever else the program does is
its failure, told with the command and the last lines of its standard error.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import selectors
import shlex
import subprocess
import tempfile
from collections.abc import Mapping
from time import monotonic  # bound here: the fence around runs guards the module's own
from typing import IO, Any

from ckptsim.scenarios.errors import UserError
from ckptsim.sim.slots.guest import core_seconds

PROTOCOL = 1
# Seconds of waiting. An assumption.  A virtual machine starts slowly and answers fast.
HELLO_SECONDS = 30.0
LINE_BYTES_MAX = 1 << 22
_SAID_BYTES = 600


class CoreFailedError(Exception):
    """A program did not answer as a core has to. `slot` names the core in its place."""

    def __init__(self, slot: str, text: str) -> None:
        super().__init__(text)
        self.slot = slot


class CoreSilentError(CoreFailedError):
    """A program has ended, or has not answered in time."""


class Program:
    """One running program. `exchange` sends a message and returns its answer.

    Raises UserError when it cannot be started or does not say hello.
    """

    def __init__(self, slot: str, command: str) -> None:
        self.slot = slot
        self._where = f"--core {slot}=process:{command}"
        words = self._words(command)
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as it
        self._process = self._started(words)
        self._stdin, self._stdout = self._process.stdin, self._process.stdout
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._stdout, selectors.EVENT_READ)  # type: ignore[arg-type]
        self._rest = b""
        self._number = 0
        self.alive = True
        try:
            said = self.exchange(
                {"op": "hello", "protocol": PROTOCOL, "slot": slot}, seconds=HELLO_SECONDS
            )
        except CoreFailedError as error:
            raise UserError(f"{self._where}: {error}") from error
        if said.get("protocol") != PROTOCOL:
            self.close()
            found = json.dumps(said.get("protocol"))
            raise UserError(
                f'{self._where}: "protocol" of its hello: found {found}, expected {PROTOCOL}'
            )

    def exchange(
        self, message: Mapping[str, Any], *, seconds: float | None = None
    ) -> dict[str, Any]:
        """Send a message and return the answer to it.

        seconds: how long to wait. By default what a core may take for a call. Raises
        CoreFailedError for an answer that is not JSON or not to it, CoreSilentError for none or a
        late one. The program has been ended then.
        """
        self._number += 1
        what = str(message["op"])
        if what == "step":
            what = f"event {message['event']['type']}"
        elif what == "ask":
            what = f"question {message['question']}"
        line = json.dumps({"n": self._number, **message}, separators=(",", ":")) + "\n"
        try:
            self._write(line.encode())
        except OSError:
            raise self._failed(f"has ended before {what}", silent=True) from None
        answer = self._read(what, core_seconds() if seconds is None else seconds)
        if answer.get("n") != self._number:
            found = json.dumps(answer)[:80]
            raise self._failed(f'answered {what} with {found}, expected "n": {self._number}')
        return answer

    def fail(self, says: str) -> CoreFailedError:
        """End the program and return the error to raise for an answer that makes no sense."""
        return self._failed(says)

    def close(self) -> None:
        """End the program. It gets the end of its input first."""
        self.alive = False
        for stream in (self._stdin, self._stdout):
            if stream is not None and not stream.closed:
                with contextlib.suppress(OSError):  # it has gone with lines unread
                    stream.close()
        self._selector.close()
        try:
            self._process.wait(timeout=0.2)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._errors.close()

    def _words(self, command: str) -> list[str]:
        try:
            words = shlex.split(command)
        except ValueError as error:
            raise UserError(
                f"{self._where}: found {command!r}, which ends early: {error}"
            ) from error
        if not words:
            raise UserError(f"{self._where}: found no command, expected one after `process:`")
        return words

    def _started(self, words: list[str]) -> subprocess.Popen[bytes]:
        try:
            return subprocess.Popen(  # noqa: S603 - the user names the program
                words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                bufsize=0,
            )
        except OSError as error:
            self._errors.close()
            raise UserError(f"{self._where}: cannot be started: {error}") from error

    def _write(self, line: bytes) -> None:
        """Write a line. One larger than the pipe is taken in pieces by a program that reads."""
        stream = self._stdin
        if stream is None or stream.closed:
            raise BrokenPipeError
        view = memoryview(line)
        while view:
            view = view[stream.write(view) or 0 :]

    def _read(self, what: str, seconds: float) -> dict[str, Any]:
        until = monotonic() + seconds
        while b"\n" not in self._rest:
            if len(self._rest) > LINE_BYTES_MAX:
                raise self._failed(f"answered {what} with more than {LINE_BYTES_MAX} bytes")
            if not self._selector.select(max(0.0, until - monotonic())):
                raise self._failed(f"has not answered {what} within {seconds:g} s", silent=True)
            piece = os.read(self._stdout.fileno(), 1 << 16)  # type: ignore[union-attr]
            if not piece:
                raise self._failed(f"ended at {what}", silent=True)
            self._rest += piece
        line, _, self._rest = self._rest.partition(b"\n")
        try:
            found = json.loads(line)
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict):
            text = line[:80].decode("utf-8", "replace")
            raise self._failed(f"answered {what} with {text!r}, expected a JSON object")
        return found

    def _failed(self, says: str, *, silent: bool = False) -> CoreFailedError:
        if self._process.stdout is not None:
            self._process.kill()
        self._process.wait()
        self._errors.seek(0)
        said = self._errors.read()[-_SAID_BYTES:].decode("utf-8", "replace").strip()
        code = self._process.returncode
        ended = f" (exit code {code})" if "end" in says and code >= 0 else ""
        self.close()
        kind = CoreSilentError if silent else CoreFailedError
        return kind(
            self.slot, f"the program {says}{ended}" + (f"; it said: {said}" if said else "")
        )


_RUNNING: dict[tuple[str, str], Program] = {}


def running(slot: str, command: str) -> Program:
    """Return the program of a slot, started if it does not run yet, or no more."""
    found = _RUNNING.get((slot, command))
    if found is None or not found.alive:
        found = _RUNNING[slot, command] = Program(slot, command)
    return found


def close_all() -> None:
    """End all programs."""
    while _RUNNING:
        _RUNNING.popitem()[1].close()


atexit.register(close_all)
