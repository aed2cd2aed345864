"""What the state and the output of a job hold: each record as often as it was sent there.

A plane that only counts records has one identity for all of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import chain, islice, repeat
from typing import TYPE_CHECKING

from ckptsim.scenarios.dialect import listed

if TYPE_CHECKING:
    from ckptsim.sim.job.control.checkpoint import JobCheckpoint
    from ckptsim.sim.job.oracle.view import Contents, PlaneView, Violate


def check_contents(
    plane: PlaneView, violate: Violate, left_out: Mapping[str, Contents], *, exactly: bool
) -> None:
    """Check committed output and state of a job that has ended against what sources have sent.

    left_out: what never comes, by vertex.  exactly: no record may be there twice.
    """
    expected = _without(plane.expected(), left_out)
    ever = _without(plane.at_most(), left_out) if exactly else plane.ever()
    for vertex in plane.vertices:
        for what, found in (("output", plane.output(vertex)), ("state", plane.state(vertex))):
            if found is None:
                continue
            name = vertex.name
            says = (
                differences(expected[name], found, ever[name])
                if exactly
                else loss(expected[name], found, ever[name], attempts=plane.attempts)
            )
            if says is not None:
                name_of = f"exactly_once_{what}" if exactly else "at_least_once"
                violate(name_of, f"{what} of {name}: {says}")


def check_restored(
    plane: PlaneView,
    restored: JobCheckpoint,
    violate: Violate,
    left_out: Mapping[str, Contents],
    *,
    exactly: bool,
) -> None:
    """Check that an attempt begins from a cut.

    What sources had emitted is in the state of each vertex, or on its way to it, except for the
    rest. At least that where records may be repeated.
    """
    put_back = plane.put_back()
    if put_back is None:
        return
    needed = _without(plane.expected(), left_out)
    at_most = _without(plane.at_most(), left_out)
    for vertex in plane.vertices:
        state = plane.state(vertex)
        if state is None:
            continue
        expected, found = needed[vertex.name], state + put_back[vertex.name]
        most = at_most[vertex.name]
        says = differences(expected, found if exactly else found & most, most)
        if says is not None:
            says = f"begins from checkpoint {restored.checkpoint_id}: {vertex.name}: {says}"
            violate("restored_checkpoint_is_a_cut", says, restored.checkpoint_id)


def missing_at_restore(plane: PlaneView) -> dict[str, Contents]:
    """Return by vertex what an attempt begins without of what sources had emitted."""
    put_back, expected = plane.put_back(), plane.expected()
    found = {vertex.name: plane.state(vertex) for vertex in plane.vertices}
    if put_back is None:
        return {}
    return {
        name: expected[name] - (state + put_back[name])
        for name, state in found.items()
        if state is not None
    }


def _without(
    contents: dict[str, Contents], left_out: Mapping[str, Contents]
) -> dict[str, Contents]:
    return contents | {name: contents[name] - missing for name, missing in left_out.items()}


def differences(expected: Contents, found: Contents, at_most: Contents | None = None) -> str | None:
    """Say in words how two contents differ, or None. At most three records are named.

    at_most: what may be there at most, where that is more than expected.
    """
    parts = []
    most = expected if at_most is None else at_most
    for what, there in (("missing", expected - found), ("too many", found - most)):
        if there:
            parts.append(f"{there.total()} {what}{_named(there)}")
    return ", ".join(parts) or None


def _named(found: Contents) -> str:
    """Name the first three of records that have an identity."""
    if None in found:
        return ""
    first = chain.from_iterable(repeat(one, min(3, found[one])) for one in sorted(found))
    return f" (such as {listed(islice(first, 3))})"


def loss(expected: Contents, found: Contents, ever: Contents, *, attempts: int) -> str | None:
    """Say in words the missing part, or can be no repeat, when repeats are allowed.

    ever: what must be there of all that any attempt sent. A stop can end a source before it sends
    again what tasks after it had processed ahead of their snapshots.  attempts: how many there
    were. Each may add a record once more, and nothing else may.
    """
    most = Counter({record: attempts * times for record, times in ever.items()})
    return differences(expected, (found & expected) + (found - most))
