"""What the kernel raises. Each message says the value found and what to do instead."""

from __future__ import annotations


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
