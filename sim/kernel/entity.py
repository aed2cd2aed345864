"""Entities, with a rank that does not depend on creation order, and what the kernel raises."""

from __future__ import annotations

from hashlib import blake2b

# Kind of every event for which no one named one: all that plain SimPy code schedules.
KIND_ORDINARY = 0
KIND_MAX = 0xFFFF


class Entity:
    """One actor of a run, such as `socket[1]`. Equal names are one entity.

    component: what it is, any text without NUL. index: which one of several, or None for the only
    one.  `ranks[kind]` is the structural tie key: bytes that sort as (kind, component, index).
    `key` is a 64-bit hash of the name for keyed tie policies.
    """

    __slots__ = ("children", "component", "index", "key", "name", "ranks")

    def __init__(self, component: str, index: int | None = None) -> None:
        if not component or "\0" in component:
            raise ValueError(f"component: found {component!r}, expected text without NUL")
        if index is not None and not 0 <= index < 1 << 62:
            raise ValueError(f"index: found {index!r}, expected 0 or more")
        self.component = component
        self.index = index
        self.name = component if index is None else f"{component}[{index}]"
        rank = rank_of(component, index)
        self.key = key_of(rank)
        self.ranks = _Ranks(rank)
        # How many unnamed processes of each name this entity has started: their own index.
        self.children: dict[str, int] = {}

    def __repr__(self) -> str:
        return f"Entity({self.name})"


def rank_of(component: str, index: int | None) -> bytes:
    """Return bytes that sort as (component, index): the structural rank after the kind."""
    place = 0 if index is None else index + 1
    return component.encode() + b"\0" + place.to_bytes(8, "big")


def key_of(rank: bytes) -> int:
    """Return the 64-bit hash of an entity's rank, for keyed tie policies."""
    return int.from_bytes(blake2b(rank, digest_size=8).digest(), "big")


class _Ranks(dict[int, bytes]):
    """The structural tie key per kind, made when first asked for."""

    __slots__ = ("_rank",)

    def __init__(self, rank: bytes) -> None:
        super().__init__()
        self._rank = rank
        self[KIND_ORDINARY] = b"\0\0" + rank

    def __missing__(self, kind: int) -> bytes:
        if not 0 <= kind <= KIND_MAX:
            raise ValueError(f"kind: found {kind!r}, expected 0 to {KIND_MAX}")
        self[kind] = key = int(kind).to_bytes(2, "big") + self._rank
        return key


class KernelError(Exception):
    """A rule of the kernel was broken by the program that runs on it."""


class ClockError(KernelError, TypeError):
    """A time or delay is not a plain `int` of nanoseconds, or lies in the past."""


class TraceError(KernelError, TypeError):
    """A trace entry holds something that has no exact, portable encoding."""


class ConservationError(KernelError):
    """At the end of a run something was neither delivered, queued nor dropped."""


class FenceBreached(KernelError):  # noqa: N818 - named after what happened, as all who catch it do
    """The simulated program touched the real world: clock, threads, sockets, randomness."""


class TooManyStepsError(KernelError):
    """A run takes more steps than it was given."""

    def __init__(self, steps: int, now: int) -> None:
        super().__init__(f"the run has not ended after {steps} steps, at {now / 1e6:.12g} ms")


def refused_time(what: str, found: object, least: int) -> ClockError:
    """Return the error for a time or delay that the clock refuses."""
    return ClockError(
        f"{what}: found {type(found).__name__} {found!r}, expected an int of nanoseconds, "
        f"{least} or more"
    )
