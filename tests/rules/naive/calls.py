"""Cores that are called by methods, or are functions, as cores that are stepped by events."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ckptsim.sim.rules.answers import Answer, Pick, Refused
from tests.rules.naive.naive import Naive

Call = tuple[Any, ...]
"""The name of a method or function, and its arguments."""


class Called:
    """A core whose methods leave effects in an outbox: a call answers with result and effects."""

    def __init__(self, core: Any, outbox: list[Any]) -> None:
        self.core = core
        self._outbox = outbox

    def step(self, call: Call) -> list[Any]:
        """Call a method."""
        name, *arguments = call
        result = getattr(self.core, name)(*arguments)
        effects = [result, *self._outbox]
        self._outbox.clear()
        return effects


def called(make: Callable[[int, list[Any]], Any]) -> Callable[[int, list[Any]], Called]:
    """Return what makes a called end of a channel, from what makes the end."""
    return lambda index, outbox: Called(make(index, outbox), outbox)


class _Flushable(Called):
    """A sender's end, which is asked for a flush by an attribute."""

    def step(self, call: Call) -> list[Any]:
        """Call a method, or ask for a flush."""
        if call[0] != "request_flush":
            return super().step(call)
        self.core.flush_requested = True
        return [None]


def flushable(make: Callable[[int, list[Any]], Any]) -> Callable[[int, list[Any]], Called]:
    """Return what makes a called sender's end of a channel, from what makes the end."""
    return lambda index, outbox: _Flushable(make(index, outbox), outbox)


class Method:
    """A core whose methods answer with a result, and leave nothing anywhere."""

    def __init__(self, core: Any) -> None:
        self.core = core

    def step(self, call: Call) -> list[Any]:
        """Call a method, or the core itself where the name is empty."""
        name, *arguments = call
        return [_called(getattr(self.core, name) if name else self.core, arguments)]


def methods(make: Callable[..., Any]) -> Callable[..., Method]:
    """Return what makes a core that is called by methods, from what makes the core."""
    return lambda *arguments, **named: Method(make(*arguments, **named))


def function(itself: Callable[..., Any]) -> Callable[[], Method]:
    """Return what gives a function that stands in a slot."""
    return lambda: Method(itself)


class Functions:
    """Functions by name: a call answers with the result."""

    def __init__(self, functions: Mapping[str, Callable[..., Any]]) -> None:
        self._functions = functions

    def step(self, call: Call) -> list[Any]:
        """Call a function with positional arguments; the last one may be of keywords."""
        name, *arguments = call
        return [_called(self._functions[name], arguments)]


class RefusedCall(Exception):  # noqa: N818 - an answer, no error
    """What a naive function raises where the core's is to refuse, with the kind."""


class FunctionRules(Naive):
    """Naive functions of the same names, and what they are asked.

    draws: name -> draws the arguments of one call, keywords in a dictionary at their end.
    """

    def __init__(
        self,
        functions: Mapping[str, Callable[..., Any]],
        draws: Mapping[str, Callable[[Pick], Sequence[Any]]],
    ) -> None:
        self._functions = functions
        self._draws = draws

    def answer(self, event: Any) -> Answer | None:
        """Return what the naive function gives, or its refusal."""
        try:
            return super().answer(event)
        except RefusedCall as refused:
            return Refused.by(str(refused))

    def take(self, event: Any) -> Sequence[Any]:
        """Return what the naive function gives."""
        name, *arguments = event
        return [_called(self._functions[name], arguments)]

    def stray(self, pick: Pick) -> Any:
        """Return a call of one of the functions."""
        name = pick.of(list(self._draws))
        return (name, *self._draws[name](pick))


def _called(function: Callable[..., Any], arguments: Sequence[Any]) -> Any:
    if arguments and isinstance(arguments[-1], dict):
        return function(*arguments[:-1], **arguments[-1])
    return function(*arguments)
