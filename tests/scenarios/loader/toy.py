"""A small link with a parameter of every kind, for tests of the loader alone."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ckptsim.scenarios.errors import Problem
from ckptsim.scenarios.fields import (
    REQUIRED,
    choice,
    count,
    duration,
    duration_ns,
    flag,
    many,
    name,
    name_kind,
    nested,
    number,
    one_of,
    rate_bytes_per_s,
    rate_per_s,
    ratio,
    size,
    size_bytes,
    text,
)
from ckptsim.scenarios.files import plain
from ckptsim.scenarios.graphs import cycle, repeated
from ckptsim.scenarios.spec import Link, Scenario

HERE = "assumption"


class Medium(StrEnum):
    """How messages travel."""

    STDIO = "stdio"
    SOCKET = "socket"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fixed:
    """Always the same."""

    delay_ns: int = duration_ns("1 ms", says="the delay", source=HERE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """Between two values."""

    delay_ns_min: int = duration_ns(0, says="the least delay", source=HERE)
    delay_ns_max: int = duration_ns(REQUIRED, says="the greatest delay", source=HERE)

    def problems(self) -> list[Problem]:
        """Compare the two values."""
        if self.delay_ns_min <= self.delay_ns_max:
            return []
        return [Problem("delay_max", str(self.delay_ns_max), "at least delay_min")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A node of a graph."""

    name: str = name(REQUIRED, says="its name", source=HERE)
    after: tuple[str, ...] = many(name_kind(), says="before it", source=HERE)
    records: int = count(10, minimum=1, maximum=1000, says="how many records", source=HERE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Timer:
    """A timer."""

    interval_ns: int = duration_ns("1 s", minimum="1 ms", says="its interval", source=HERE)
    timeout_ns: int | None = duration_ns(None, optional=True, says="its time-out", source=HERE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Toy:
    """A model with everything."""

    medium: Medium = choice(Medium.SOCKET, Medium, says="how messages travel", source=HERE)
    word: str = choice("a", ("a", "b"), says="a word", source=HERE)
    sockets: int = count(2, minimum=1, maximum=64, says="how many sockets", source=HERE)
    limit: int | None = count(5, optional=True, says="a limit", source=HERE)
    eager: bool = flag(False, says="whether it hurries", source=HERE)
    share_ratio: float = ratio(0.5, says="a share", source=HERE)
    factor: float = number(1, minimum=0.1, maximum=100, says="a factor", source=HERE)
    buffer_bytes: int = size_bytes("32 KiB", minimum=256, says="a buffer", source=HERE)
    write_bytes_per_s: int | None = rate_bytes_per_s(
        None, optional=True, says="bandwidth of writing", source=HERE
    )
    write_ns: int = duration_ns("1 ms", says="time before writing", source=HERE)
    records_per_s: float = rate_per_s(100, says="rate of records", source=HERE)
    note: str = text("", says="a note", source=HERE)
    timer: Timer = nested(Timer, says="a timer")
    delay: Fixed | Spread = one_of(
        {"fixed": Fixed, "spread": Spread}, Fixed(), says="a delay", source=HERE
    )
    nodes: tuple[Node, ...] = many(Node, says="nodes of a graph", maximum=10)
    instants_ns: tuple[int, ...] = many(duration(), says="some instants", maximum=4)
    sizes_bytes: tuple[int, ...] = many(size(), says="some sizes", maximum=4)

    def problems(self) -> list[Problem]:
        """Look for names that occur twice and for cycles."""
        notes = [
            Problem(f"nodes[{index}].name", f'"{found}"', "a name that occurs once")
            for index, found in repeated([node.name for node in self.nodes])
        ]
        ring = cycle({node.name: node.after for node in self.nodes})
        if ring:
            notes.append(Problem("nodes", " -> ".join(ring), "a graph without cycles"))
        return notes


@dataclass(frozen=True, slots=True, kw_only=True)
class Crash:
    """A crash of a node."""

    at_ns: int = duration_ns(REQUIRED, says="when", source=HERE)
    node: str = name(REQUIRED, says="of which node", source=HERE)

    def problems_in(self, model: Toy) -> list[Problem]:
        """Look for the node."""
        names = [node.name for node in model.nodes]
        if self.node in names:
            return []
        return [Problem("node", f'"{self.node}"', f"one of the nodes {', '.join(names)}")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stall:
    """A pause of everything."""

    at_ns: int = duration_ns("1 s", says="when", source=HERE)
    lasting_ns: int = duration_ns("1 s", says="how long", source=HERE)


LINK = Link(
    name="toy",
    says="a link for tests",
    key="toy",
    model=Toy,
    faults={"crash": Crash, "stall": Stall},
)
LINKS = {"toy": LINK}

EXAMPLE = Scenario(
    name="example",
    link="toy",
    says="everything at once",
    goals=("crashed",),
    violates=("order",),
    model=Toy(
        limit=None,
        write_bytes_per_s=1000,
        delay=Spread(delay_ns_max=5),
        nodes=(Node(name="a"), Node(name="b", after=("a",))),
        instants_ns=(1, 2),
        sizes_bytes=(3,),
    ),
    faults=(Crash(at_ns=5, node="a"), Stall()),
)
DOCUMENT = plain(EXAMPLE, LINKS)
