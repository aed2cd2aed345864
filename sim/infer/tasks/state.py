"""How large the state of each subtask is, and how fast the storage takes it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from statistics import median

from ckptsim.scenarios.job import Mode
from ckptsim.sim.infer.found import Found, Sureness
from ckptsim.sim.infer.options import mode_of
from ckptsim.sim.infer.tasks import streams
from ckptsim.sim.infer.tasks.streams import File
from ckptsim.sim.infer.topology import ordered
from ckptsim.sim.job.buffers.constants import CONSTANTS
from ckptsim.sim.recording import Recording, SubtaskPart, VertexAnswer

_PARTS = ("/checkpoints/details/:id/subtasks/:id",)
_MB = 1_000_000
_MS = 1_000_000

# A file has to take so much longer than its handling by a processor, and at least so long, before
# the storage is put down as slow.  Assumption: below, pauses of the machine explain it.
_SLOW_TIMES = 3.0
_SLOW_MS = 60.0
# Acknowledgements that follow each other by less than this part are of one file.  Source: recorded
# files of five and three subtasks, 1 % apart within a file and four times between them.
_AT_ONCE = 0.1

_Member = tuple[str, int]
"""A subtask: the id of its vertex and its index."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageSpeed:
    """Limit of one stream in bytes per second, None for none that shows; time to create a file.

    shared: whether all streams together have that limit.
    """

    write_bytes_per_s: int | None = None
    create_latency_ns: int = 0
    shared: bool = False


def states_of(recording: Recording, vertex: VertexAnswer) -> Found[tuple[int, ...]] | None:
    """Return the bytes of state that each subtask writes in a checkpoint, None where unknown.

    The middle of the recorded checkpoints but the first, whose state is still growing.
    """
    known = [one for one in recording.completed if one.parts.get(vertex.id)]
    sizes: dict[int, list[int]] = {}
    for one in known[1:] or known:
        for part in one.parts[vertex.id]:
            own = max(0, part.checkpointed_bytes - part.persisted_bytes)
            sizes.setdefault(part.subtask, []).append(own)
    if not sizes:
        return None
    usual = median([size for found in sizes.values() for size in found])
    return Found(
        value=tuple(
            round(median(sizes.get(index, [round(usual)]))) for index in range(vertex.parallelism)
        ),
        how=f"bytes of each subtask in {len(known)} checkpoints, less those in flight",
        answers=_PARTS,
        sure=Sureness.READ if len(known) > 2 else Sureness.ESTIMATED,
    )


def storage_of(
    recording: Recording, *, inline_bytes: int, subtasks_per_file: int
) -> Found[StorageSpeed]:
    """Return the speed of the checkpoint storage, from how long files took beside their sizes.

    Streams are taken to be limited one by one unless times say that they share a limit, which does
    not show while their number stays the same.
    """
    checkpoints = list(_files(recording, inline_bytes, subtasks_per_file))
    files = [file for found in checkpoints for file in found]
    if not files:
        return Found(
            value=StorageSpeed(),
            how="no file was written that is larger than what travels in acknowledgements",
            answers=(),
            sure=Sureness.ASSUMED,
            effect="a slow storage lengthens every checkpoint that writes state or data in flight",
        )
    how = f"asynchronous time of {len(files)} files"
    slow = [f for f in files if f.extra_ms > max(_SLOW_MS, (_SLOW_TIMES - 1) * f.handled_ms)]
    if 2 * len(slow) < len(files):
        return Found(
            value=StorageSpeed(),
            how=f"{how}: no slower than a processor handles them, so no limit shows",
            answers=_PARTS,
            sure=Sureness.ESTIMATED,
            effect="a limit above the rates that were reached cannot be seen",
        )
    sizes = [f.bytes for f in files]
    fit, shared = streams.fits(checkpoints)
    if fit.spread:
        how += f" of {min(sizes):,} to {max(sizes):,} bytes, as latency and rate"
    else:
        how += f" of {round(median(sizes)):,} bytes, all of it put down to the rate"
    if shared:
        how += "; they took the longer the more were under way, so all share it"
    return Found(
        value=StorageSpeed(
            write_bytes_per_s=fit.rate,
            create_latency_ns=round(fit.latency_ms * _MS),
            shared=shared,
        ),
        how=how,
        answers=_PARTS,
        sure=Sureness.COUNTED if len(files) >= 10 else Sureness.ESTIMATED,
    )


def _files(recording: Recording, inline_bytes: int, limit: int) -> Iterator[list[File]]:
    """Yield the files of each checkpoint whose asynchronous time is known.

    With an alignment time-out a task that others read from waits in its asynchronous part, too.
    limit: how many subtasks share a file at most.
    """
    read = {edge.upstream for vertex in recording.vertices for edge in vertex.inputs}
    waits = mode_of(recording).value[0] is Mode.ALIGNED_TIMEOUT
    groups = _groups(recording, limit)
    sharing = Counter(v for group in groups for v in dict.fromkeys(vertex for vertex, _ in group))
    for one in recording.completed:
        found: list[File] = []
        parts = {(v, part.subtask): part for v, own in one.parts.items() for part in own}
        for group in groups:
            known = {member: parts[member] for member in group if member in parts}
            if waits and any(vertex in read for vertex, _ in known):
                known = {member: parts[member] for member in known if member[0] not in read}
                if len(group) > 1 and any(part.persisted_bytes for part in known.values()):
                    continue
            if len(known) < len(group) and any(part.persisted_bytes for part in known.values()):
                continue  # what the others wrote into the same file is not in the answers
            found += _files_of(known, sharing)
        if large := [file for file in found if file.bytes > inline_bytes]:
            yield large


def _groups(recording: Recording, limit: int) -> list[tuple[_Member, ...]]:
    """Return which subtasks share files of channel state.

    A subtask whose task manager is unknown is taken to be alone.
    """
    managers: dict[str, list[_Member]] = {}
    for vertex in ordered(recording):
        names = {one.index: one.task_manager or one.host for one in vertex.subtasks}
        for index in range(vertex.parallelism):
            name = names.get(index) or f"of {vertex.id}/{index}"
            managers.setdefault(name, []).append((vertex.id, index))
    ends = _ends(recording)
    return [group for members in managers.values() for group in _sharing(members, ends, limit)]


def _ends(recording: Recording) -> dict[_Member, float]:
    """Return when each subtask has acknowledged, in ms behind the trigger, in the middle."""
    found: dict[_Member, list[float]] = {}
    for one in recording.completed:
        for vertex, parts in one.parts.items():
            for part in parts:
                found.setdefault((vertex, part.subtask), []).append(part.end_to_end_ms)
    return {member: median(ends) for member, ends in found.items()}


def _sharing(
    members: list[_Member], ends: Mapping[_Member, float], limit: int
) -> list[tuple[_Member, ...]]:
    """Return the groups of one task manager's subtasks, given in the order of their deployment.

    The order in which their threads start decides, which is not always that of deployment.  Those
    that share a file acknowledge at one time; where that makes no groups, the order has to do.
    """
    groups: list[list[_Member]] = []
    if all(member in ends for member in members):
        before = -math.inf
        for member in sorted(members, key=ends.__getitem__):
            if ends[member] > (1 + _AT_ONCE) * before:
                groups.append([])
            groups[-1].append(member)
            before = ends[member]
    if not groups or max(map(len, groups)) > limit:
        groups = [members[i : i + limit] for i in range(0, len(members), limit)]
    return [tuple(group) for group in groups]


def _files_of(parts: Mapping[_Member, SubtaskPart], sharing: Mapping[str, int]) -> Iterator[File]:
    """Yield the files of subtasks that share one for data in flight.

    State and data in flight are two files that are written at the same time, so the larger one
    counts.  The shared file is begun in earnest when the last of them has all of its data: the one
    that waits for it the shortest says how long it took.
    """
    shared = sum(part.persisted_bytes for part in parts.values())
    quickest: File | None = None
    for (vertex, _), part in parts.items():
        state = max(0, part.checkpointed_bytes - part.persisted_bytes)
        file = _file(part, max(state, shared), sharing[vertex])
        if state > shared or not shared:
            yield file
        elif quickest is None or file.async_ms < quickest.async_ms:
            quickest = file
    if quickest is not None:
        yield quickest


def _file(part: SubtaskPart, size: int, crowd: int) -> File:
    """Return what a part's asynchronous time says; in an unaligned one it waits for barriers, too.

    crowd: how many files are written beside this one, which share the processors.
    """
    waits_ms = part.alignment_ms if part.unaligned else 0.0
    own_ns = CONSTANTS.file_cost_ns + CONSTANTS.state_ns_per_mb * size / _MB
    own_ns *= max(1.0, crowd / CONSTANTS.cores)
    return File(size, max(0.0, part.async_ms - waits_ms), own_ns / _MS, part.end_to_end_ms)
