"""The stream of what happens in a job: hosts and data planes emit, and listeners hear.

An event is a dataclass. The listeners of its kind get it at the instant at which it happens.
No listener changes what happens, so the digest of a run does not depend on its listeners.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, dataclass_transform

if TYPE_CHECKING:
    from ckptsim.sim.job.port import ObservedTask

Hear: TypeAlias = Callable[[Any], None]


@dataclass_transform(eq_default=False)
class Event:
    """Something that has happened; each kind is a dataclass.

    kinds: all of them by name, in the order of their definition.
    """

    kinds: ClassVar[dict[str, type[Event]]] = {}

    def __init_subclass__(cls) -> None:
        dataclass(cls, eq=False)
        Event.kinds[cls.__name__] = cls


class TaskEvent(Event):
    """Something that has happened at one task of an attempt.

    task: where; it may be of an attempt that is over.
    """

    task: ObservedTask


class Listener:
    """Hears the kinds that its methods ask for.

    A public method with a parameter `event` hears the kinds in its annotation, as in
    `event: A | B`.
    heard: the methods and the names of their kinds.
    """

    heard: ClassVar[tuple[tuple[str, str], ...]] = ()

    def __init_subclass__(cls) -> None:
        found = [
            (name, kind.strip().rpartition(".")[2])
            for name, method in vars(cls).items()
            for kind in getattr(method, "__annotations__", {}).get("event", "").split("|")
            if kind and not name.startswith("_")
        ]
        cls.heard = (*cls.heard, *found)

    @classmethod
    def methods(cls) -> Iterator[tuple[type[Event], Callable[..., None]]]:
        """Yield each kind that it hears, with the method that does."""
        for name, kind in cls.heard:
            yield Event.kinds[kind], getattr(cls, name)


class Events:
    """The stream of one run; those who came first hear first."""

    def __init__(self) -> None:
        self._heard: dict[type[Event], list[Hear]] = {}

    def listen(self, kind: type[Event], hear: Hear) -> None:
        """Call a function at every event of a kind."""
        self._heard.setdefault(kind, []).append(hear)

    def attach(self, listener: Listener) -> None:
        """Let a listener hear its kinds from now on."""
        for kind, method in listener.methods():
            self.listen(kind, method.__get__(listener))

    def emit(self, event: Event) -> None:
        """Let an event be heard by all who listen to its kind."""
        for hear in self._heard.get(type(event), ()):
            hear(event)
