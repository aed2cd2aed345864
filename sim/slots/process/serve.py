"""The other end: run cores written in Python as a program of their own."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable
from traceback import extract_tb
from typing import IO, Any

from ckptsim.models.core import ProtocolError
from ckptsim.scenarios.errors import UserError
from ckptsim.sim.slots.cores import fitting
from ckptsim.sim.slots.process.codec import DOORS, AsNumbers, Door, decoder, encoder
from ckptsim.sim.slots.process.program import PROTOCOL

_NUMBERS = AsNumbers()


def serve(
    slot: str,
    make: Callable[..., Any],
    *,
    lines: Iterable[str] | None = None,
    out: IO[str] | None = None,
) -> None:
    """Answer the lines of standard input until they end, with cores that `make` makes.

    make: a factory of the slot, as in a process that runs worlds. Handles are numbers here.
    lines, out: for tests, in place of standard input and output. Raises UserError for a slot
    without programs.
    """
    if slot not in DOORS:
        raise UserError(f"serve: found slot {slot!r}, expected one of {', '.join(DOORS)}")
    served = _Served(DOORS[slot], make)
    target = sys.stdout if out is None else out
    for line in sys.stdin if lines is None else lines:
        message = json.loads(line)
        answer = {"n": message["n"]} | served.answer(message)
        target.write(json.dumps(answer, separators=(",", ":")) + "\n")
        target.flush()


class _Served:
    def __init__(self, door: Door, make: Callable[..., Any]) -> None:
        self._door = door
        self._make = make
        self._cores: dict[int, Any] = {}

    def answer(self, message: dict[str, Any]) -> dict[str, Any]:
        """Return the answer to a message. What a core raises is one, too."""
        try:
            return self._answer(message)
        except ProtocolError as error:
            story = list(error.story)
            return {"refused": {"kind": str(error.kind), "state": error.state, "story": story}}
        except Exception as error:  # noqa: BLE001 - the other end says whose failure it is
            last = extract_tb(error.__traceback__)[-1]
            where = f"{last.filename}, line {last.lineno}"
            return {"failed": f"{type(error).__name__}: {error} ({where})"}

    def _answer(self, message: dict[str, Any]) -> dict[str, Any]:
        match message["op"]:
            case "hello":
                return {"protocol": PROTOCOL}
            case "begin":
                self._cores.clear()
            case "make":
                self._cores[message["core"]] = self._made(message["arguments"])
            case "step":
                core = self._cores[message["core"]]
                event = decoder(self._door.events)(message["event"], "event", _NUMBERS)
                encode = encoder(self._door.effects)
                return {"effects": [encode(each, _NUMBERS) for each in core.step(event)]}
            case "ask":
                return {"answer": self._asked(message)}
            case other:
                raise ValueError(f"found op {other!r}")
        return {"ok": True}

    def _made(self, arguments: dict[str, Any]) -> Any:
        """Make a core. The first parameters of the slot's factories are positional."""
        given = {
            name: decoder(kind)(arguments[name], name, _NUMBERS)
            for name, kind in self._door.arguments.items()
            if name in arguments
        }
        return make_by_name(self._door.slot, self._make, given)

    def _asked(self, message: dict[str, Any]) -> Any:
        core, name = self._cores[message["core"]], message["question"]
        question = self._door.questions[name]
        if name == "clock_running":
            return core.clock.running
        found = getattr(core, name)
        if not question.is_property:
            given = {
                each: decoder(kind)(message["arguments"][each], each, _NUMBERS)
                for each, kind in question.takes.items()
                if each in message["arguments"]
            }
            found = found(**given)
        return encoder(question.gives)(found, _NUMBERS)


# How many of a slot's arguments are passed by position. The rest go by keyword.
_POSITIONAL = {"handler": 2}


def make_by_name(slot: str, make: Callable[..., Any], given: dict[str, Any]) -> Any:
    """Call a slot's factory as worlds do."""
    count = _POSITIONAL.get(slot, 1)
    values = list(given.values())[:count]
    return fitting(slot, make)(*values, **{name: given[name] for name in list(given)[count:]})
