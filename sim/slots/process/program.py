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
from collections.abc import Callable, Mapping
from functools import partial
from time import monotonic  # bound here: the fence around runs guards the module's own
from typing import IO, Any

from ckptsim.models.barriers.handler.events import BytesProcessed
from ckptsim.models.core import ProtocolError
from ckptsim.scenarios.errors import UserError
from ckptsim.sim.slots.guest import core_seconds
from ckptsim.sim.slots.process.codec import (
    DOORS,
    CodecError,
    Door,
    Numbered,
    Question,
    decoder,
    encoder,
)

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
    """One running program. Raises UserError when it cannot be started or does not say hello."""

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
                words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, bufsize=0
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


PREFIX = "process:"


def process_factory(slot: str, command: str) -> Callable[..., ProcessCore]:
    """Return a factory of cores in the program of a command line. Raises UserError."""
    if slot not in DOORS:
        raise UserError(
            f"--core {slot}={PREFIX}{command}: cores of slot {slot!r} cannot be in a program of "
            f"their own, expected one of {', '.join(DOORS)}"
        )
    running(slot, command)  # now: a run begins when it is there
    return ProcessRun(DOORS[slot], command)


# What worlds leave out where there is none of it. A program gets every argument.
_EMPTY: dict[str, Any] = {"completed": ()}


class ProcessRun:
    """The cores of one run in one program. Calling it makes one."""

    def __init__(self, door: Door, command: str) -> None:
        self._door = door
        self._command = command
        self._program: Program | None = None
        self._made = 0

    def __call__(self, *positional: Any, **named: Any) -> ProcessCore:
        """Make a core. The arguments are the ones of the slot's factories."""
        names = list(self._door.arguments)
        given = _EMPTY | dict(zip(names, positional, strict=False)) | named
        if self._program is None or not self._program.alive:
            self._program = running(self._door.slot, self._command)
            self._made = 0
            # Cores made for the run before are no more. Numbers begin again, so that a run sends
            # the same lines whenever it takes place.
            _ok(self._program, {"op": "begin"})
        self._made += 1
        opaque = Numbered()
        arguments = {
            name: encoder(kind)(given[name], opaque)
            for name, kind in self._door.arguments.items()
            if name in given
        }
        _ok(self._program, {"op": "make", "core": self._made, "arguments": arguments})
        return ProcessCore(self._door, self._program, self._made, opaque)


class ProcessCore:
    """One core in a program. Answers are kept until the next event."""

    def __init__(self, door: Door, program: Program, number: int, opaque: Numbered) -> None:
        self._door = door
        self._program = program
        self._number = number
        self._opaque = opaque
        self._answers: dict[tuple[object, ...], Any] = {}
        self._encode_event = encoder(door.events)
        self._decode_effect = decoder(door.effects)
        if door.slot == "handler":
            self.clock = ProcessClock(self)

    def step(self, event: Any) -> list[Any]:
        """Send the event and return the effects. Raises ProtocolError or CoreFailedError."""
        self._answers.clear()
        message = {
            "op": "step",
            "core": self._number,
            "event": self._encode_event(event, self._opaque),
        }
        answer = self._said(message, event)
        effects = answer.get("effects")
        what = f"effects of {type(event).__name__}"
        if not isinstance(effects, list):
            raise self._program.fail(f"answered with {answer!r:.120}, expected {what}")
        try:
            return [
                self._decode_effect(effect, f"{what}[{at}]", self._opaque)
                for at, effect in enumerate(effects)
            ]
        except (CodecError, ValueError, ProtocolError) as error:
            raise self._program.fail(f"answered with no such effect: {error}") from error

    def __getattr__(self, name: str) -> Any:
        """Answer a property, or return a question that takes arguments."""
        question = self._door.questions.get(name)
        if question is None:
            raise AttributeError(f"a core of slot {self._door.slot!r} has no {name!r}")
        if question.is_property:
            return self._ask(name, question)
        return partial(self._ask, name, question)

    def _ask(self, name: str, question: Question, *positional: Any, **named: Any) -> Any:
        given = dict(zip(question.takes, positional, strict=False)) | named
        key = (name, *given.items())
        if key in self._answers:
            return self._answers[key]
        arguments = {
            each: encoder(kind)(given[each], self._opaque)
            for each, kind in question.takes.items()
            if each in given
        }
        answer = self._said(
            {"op": "ask", "core": self._number, "question": name, "arguments": arguments}, None
        )
        if "answer" not in answer:
            raise self._program.fail(f"answered {answer!r:.120}, expected an answer to {name}")
        try:
            found = decoder(question.gives)(answer["answer"], f"answer to {name}", self._opaque)
        except (CodecError, ValueError) as error:
            raise self._program.fail(f"gave no such answer: {error}") from error
        self._answers[key] = found
        return found

    def _said(self, message: dict[str, Any], event: object) -> dict[str, Any]:
        answer = self._program.exchange(message)
        if "refused" in answer:
            raise _refusal(self._program, answer["refused"], event)
        if "failed" in answer:
            raise self._program.fail(f"failed: {answer['failed']}")
        return answer


class ProcessClock:
    """The alignment clock of a handler in a program, as hosts use it: bytes become events."""

    def __init__(self, core: ProcessCore) -> None:
        self._core = core

    @property
    def running(self) -> bool:
        """Whether bytes count at present."""
        found: bool = self._core.clock_running
        return found

    def add_bytes(self, count: int) -> None:
        """Count a buffer that was handed to the task. Nothing when the clock is stopped."""
        if self.running:
            self._core.step(BytesProcessed(count))


def _ok(program: Program, message: dict[str, Any]) -> None:
    answer = program.exchange(message)
    if answer.get("ok") is not True:
        what = f"answered {message['op']} with {answer!r:.120}"
        raise program.fail(f'{what}, expected "ok": true')


def _refusal(program: Program, found: object, event: object) -> Exception:
    if not isinstance(found, dict) or not isinstance(found.get("kind"), str):
        return program.fail(f'refused with {found!r:.120}, expected an object with "kind"')
    story = found.get("story", [])
    lines = tuple(map(str, story)) if isinstance(story, list) else ()
    return ProtocolError(found["kind"], state=str(found.get("state", "")), event=event, story=lines)
