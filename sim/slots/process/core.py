"""The stand-in for a core that runs in a program: worlds use it as any other core."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ckptsim.models.barriers.handler.events import BytesProcessed
from ckptsim.models.core import ProtocolError
from ckptsim.scenarios.errors import UserError
from ckptsim.sim.slots.process.codec import CodecError, Numbered, decoder, encoder
from ckptsim.sim.slots.process.doors import DOORS, Door, Question
from ckptsim.sim.slots.process.program import Program, running

PREFIX = "process:"


def process_factory(slot: str, command: str) -> Callable[..., ProcessCore]:
    """Return a factory of cores in the program that a command line starts, for one run.

    Raises UserError for a slot without programs, and when it does not start.
    """
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
    """One core: `step`, and the questions of its slot as attributes and methods.

    Answers are kept until the next event: a core changes by nothing else.
    """

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
        """Send the event and return the effects.

        Raises ProtocolError when the core refuses it, CoreFailedError when the program fails.
        """
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
    """Return the error of a core that refuses an event."""
    if not isinstance(found, dict) or not isinstance(found.get("kind"), str):
        return program.fail(f'refused with {found!r:.120}, expected an object with "kind"')
    story = found.get("story", [])
    lines = tuple(map(str, story)) if isinstance(story, list) else ()
    return ProtocolError(found["kind"], state=str(found.get("state", "")), event=event, story=lines)
