"""How large the state of each subtask is, and how fast the storage takes it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from ckptsim.scenarios.job import Mode
from ckptsim.sim.infer.found import Found, Sureness
from ckptsim.sim.infer.options import mode_of
from ckptsim.sim.infer.tasks import streams
from ckptsim.sim.infer.tasks.streams import File
from ckptsim.sim.infer.topology import ordered
from ckptsim.sim.job.buffers.constants import PLAIN, Constants
from ckptsim.sim.recording import Recording, SubtaskPart, VertexAnswer

_PARTS = ("/checkpoints/details/:id/subtasks/:id",)
_DOWNLOAD = "MaxDownloadStateDurationMs"
_MB = 1_000_000
_MS = 1_000_000

# A file has to take so much longer than its handling by a processor, and at least so long, before
# the storage is put down as slow.  Assumption: below, pauses of the machine explain it.
_SLOW_TIMES = 3.0
_SLOW_MS = 60.0
# Acknowledgements that follow each other by less than this part are of one file.  Source: recorded
# files of five and three subtasks, 1 % apart within a file and four times between them.
_AT_ONCE = 0.1
# Files that end nearly at one time are distinguished down to this part: noise of acknowledgements.
_LEAST_AT_ONCE = 0.01

Member = tuple[str, int]
"""A subtask: the id of its vertex and its index."""


def read_rate_of(recording: Recording) -> Found[int] | None:
    """Return how fast a restore read state, in bytes per second, where spans say it.

    The largest state and the longest download need not be of one subtask (assumption: they are).
    """
    rates = [
        (start.figures["MaxRestoredStateSizeBytes.REMOTE"], start.figures[_DOWNLOAD])
        for start in recording.initializations
        if start.figures.get("MaxRestoredStateSizeBytes.REMOTE", 0.0) > 0
        and start.figures.get(_DOWNLOAD, 0.0) > 0
    ]
    if not rates:
        return None
    rate = median(size / lasts_ms * 1000 for size, lasts_ms in rates)
    how = f"largest restored state over the longest download of {len(rates)} restores"
    sure = Sureness.ESTIMATED
    return Found(value=max(1, round(rate)), how=how, answers=("JobInitialization",), sure=sure)


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageSpeed:
    """Limit of one stream in bytes per second, None for none that shows. Time to create a file.

    shared: whether all streams together have that limit.
    """

    write_bytes_per_s: int | None = None
    create_latency_ns: int = 0
    shared: bool = False


def states_of(recording: Recording, vertex: VertexAnswer) -> Found[tuple[int, ...]] | None:
    """Return the bytes of state that each subtask writes in a checkpoint, None where unknown.

    The middle of the recorded checkpoints but the first, in which state still grows.
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


def full_of(recording: Recording, vertex: VertexAnswer) -> Found[int] | None:
    """Return the bytes of the whole state of a vertex, None where checkpoints write all of it.

    What an incremental checkpoint writes is recorded as it was: the middle of the checkpoints.
    """
    known = [one for one in recording.completed if one.parts.get(vertex.id)]
    totals = [
        sum(part.full_bytes - part.persisted_bytes for part in one.parts[vertex.id])
        for one in known[1:] or known
        if len(one.parts[vertex.id]) == vertex.parallelism
    ]
    written = states_of(recording, vertex)
    if not totals or written is None or median(totals) <= 1.01 * sum(written.value):
        return None
    return Found(
        value=round(median(totals)),
        how=f"state_size of {len(totals)} checkpoints, which write the changes",
        answers=_PARTS,
        sure=Sureness.READ,
    )


def storage_of(
    recording: Recording,
    *,
    inline_bytes: int,
    subtasks_per_file: int,
    cores: int,
    constants: Constants = PLAIN,
) -> Found[StorageSpeed]:
    """Return the speed of the checkpoint storage, from how long files took beside their sizes.

    cores: processors that handle files.  constants: of the profile.
    Streams are taken to be limited one by one unless times say that they share a limit, which does
    not show while their number stays the same.
    """
    checkpoints = list(_files(recording, inline_bytes, subtasks_per_file, cores))
    files = [file for found in checkpoints for file in found if file.beside is None]
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
    fits = streams.fits(checkpoints, constants)
    fit = fits.best
    if fit.spread:
        how += f" of {min(sizes):,} to {max(sizes):,} bytes, as latency and rate"
    else:
        how += f" of {round(median(sizes)):,} bytes, all of it put down to the rate"
    sure, effect = Sureness.COUNTED if len(files) >= 10 else Sureness.ESTIMATED, ""
    if fits.is_shared:
        how += "; they took the longer the more were under way, so all share it"
    elif fits.is_open and fits.together.rate is not None:
        how += "; whether all streams share it does not show, so each has its own"
        sure = Sureness.ASSUMED
        effect = "files take longer beside others if all share a limit, which would be "
        effect += f"{fits.together.rate:,} bytes/s (job.storage.shared_limit, job.storage.write)"
    return Found(
        value=StorageSpeed(
            write_bytes_per_s=fit.rate,
            create_latency_ns=round(fit.latency_ms * _MS),
            shared=fits.is_shared,
        ),
        how=how,
        answers=_PARTS,
        sure=sure,
        effect=effect,
    )


def _files(recording: Recording, inline_bytes: int, limit: int, cores: int) -> Iterator[list[File]]:
    """Yield the files of each checkpoint.

    limit: how many subtasks share a file at most.  cores: processors that handle files.
    """
    mode, timeout_ns = mode_of(recording).value
    timeout_ms = timeout_ns / _MS if mode is Mode.ALIGNED_TIMEOUT else 0.0
    read = {edge.upstream for vertex in recording.vertices for edge in vertex.inputs}
    chained = {vertex.id for vertex in recording.vertices if len(vertex.operators) > 1}
    groups = groups_of(recording, limit)
    sharing = Counter(v for group in groups for v in dict.fromkeys(vertex for vertex, _ in group))
    for one in recording.completed:
        found: list[File] = []
        parts = {(v, part.subtask): part for v, own in one.parts.items() for part in own}
        for group in groups:
            known = [
                _Part(
                    parts[member],
                    sharing[member[0]] / cores,
                    timeout_ms,
                    is_read=member[0] in read,
                    is_chained=member[0] in chained,
                )
                for member in group
                if member in parts
            ]
            if len(known) < len(group) and any(one.answer.persisted_bytes for one in known):
                continue  # what the others wrote into the same file is not in the answers
            found += _files_of(known, inline_bytes)
        if found:
            yield found


def groups_of(recording: Recording, limit: int) -> list[tuple[Member, ...]]:
    """Return which subtasks share files of channel state.

    A subtask without a known task manager is taken to be alone.
    """
    managers: dict[str, list[Member]] = {}
    for vertex in ordered(recording):
        names = {one.index: one.task_manager or one.host for one in vertex.subtasks}
        for index in range(vertex.parallelism):
            name = names.get(index) or f"of {vertex.id}/{index}"
            managers.setdefault(name, []).append((vertex.id, index))
    ends = _ends(recording)
    return [group for members in managers.values() for group in _sharing(members, ends, limit)]


def _ends(recording: Recording) -> dict[Member, float]:
    """Return when each subtask has acknowledged, in ms after the trigger, in the middle."""
    found: dict[Member, list[float]] = {}
    for one in recording.completed:
        for vertex, parts in one.parts.items():
            for part in parts:
                found.setdefault((vertex, part.subtask), []).append(part.end_to_end_ms)
    return {member: median(ends) for member, ends in found.items()}


def _sharing(
    members: list[Member], ends: Mapping[Member, float], limit: int
) -> list[tuple[Member, ...]]:
    """Return the groups of one task manager's subtasks, given in the order of their deployment.

    The order in which their threads start decides, which is not always the one of deployment.
    Those that share a file acknowledge at one time, the closer the more files end then, except for
    those with slower state.  All files but one have as many subtasks as may share one: the rest
    over is in as few files, those that end latest in the fullest, since streams are equally fast.
    Where that makes no groups, the order has to do.
    """
    tolerance = _AT_ONCE
    while tolerance > _LEAST_AT_ONCE and all(member in ends for member in members):
        groups: list[list[Member]] = []
        before = -math.inf
        for member in sorted(members, key=ends.__getitem__):
            if ends[member] > (1 + tolerance) * before:
                groups.append([])
            groups[-1].append(member)
            before = ends[member]
        if max(map(len, groups)) <= limit:
            rest = [member for group in groups if len(group) < limit for member in group]
            rest.reverse()
            groups = [group for group in groups if len(group) == limit]
            groups += [rest[i : i + limit] for i in range(0, len(rest), limit)]
            return [tuple(group) for group in groups]
        tolerance /= 2
    return [tuple(members[i : i + limit]) for i in range(0, len(members), limit)]


@dataclass(frozen=True, slots=True)
class _Part:
    """A subtask's part in a checkpoint, beside what decides when its files are begun.

    crowd: how many files are written beside its own for each processor.  timeout_ms: of alignments,
    0 for none.  is_read: whether others read from it.  is_chained: whether it has several
    operators.
    """

    answer: SubtaskPart
    crowd: float
    timeout_ms: float
    is_read: bool
    is_chained: bool

    @property
    def state_bytes(self) -> int:
        return max(0, self.answer.checkpointed_bytes - self.answer.persisted_bytes)

    @property
    def waits(self) -> bool:
        """Return whether it may have ended when its barriers had left, which it waits for, too."""
        latest_ms = (1 + _AT_ONCE) * self.timeout_ms
        return self.is_read and self.answer.end_to_end_ms <= latest_ms

    def state(self, channel: File | None) -> File:
        """Return its file of state, as if its asynchronous part ended with it.

        channel: the file of data in flight that it shares.  Of a chain the last operator is taken
        to be finished first, as in simulated tasks: it waits for that file before state is written.
        """
        begin_ms = self._begin_ms
        if channel is not None and self.is_chained:
            late = self.answer.end_to_end_ms > (1 + _AT_ONCE) * channel.end_ms
            begin_ms = channel.end_ms if late else begin_ms
        return self._file(self.state_bytes, begin_ms)

    def channel_state(self, size: int) -> File:
        """Return the file of data in flight, as if its asynchronous part ended with it.

        It is begun in earnest when all data are there: with the last barrier, which comes while the
        asynchronous part lasts where it overtakes, and not before an alignment has timed out.
        """
        aligned_ms = self.answer.start_delay_ms + self.answer.alignment_ms
        return self._file(size, max(self._begin_ms, aligned_ms, self.timeout_ms))

    @property
    def _begin_ms(self) -> float:
        return self.answer.end_to_end_ms - self.answer.async_ms

    def _file(self, size: int, begin_ms: float) -> File:
        own_ns = PLAIN.file_cost_ns + PLAIN.state_ns_per_mb * size / _MB
        return File(
            bytes=size,
            begin_ms=begin_ms,
            end_ms=self.answer.end_to_end_ms,
            handled_ms=own_ns * max(1.0, self.crowd) / _MS,
        )


def _files_of(parts: Sequence[_Part], inline_bytes: int) -> Iterator[File]:
    """Yield the files of subtasks that share one for data in flight.

    State and data in flight are two files that are written at the same time, and the later one ends
    a part.  Both are equally fast, so that is the one which then took less time per byte.  Of those
    that wait for the shared file, the one that does so the shortest says how long it took.
    """
    shared = sum(part.answer.persisted_bytes for part in parts)
    channel: File | None = None
    if shared > inline_bytes:
        channel = min((p.channel_state(shared) for p in parts), key=lambda file: file.write_ms)
    is_latest = any(part.state_bytes <= inline_bytes for part in parts)
    latest: list[File] = []
    for part in parts:
        if part.state_bytes <= inline_bytes:
            continue
        state = part.state(channel)
        if channel is not None and _outlasts(channel, state):
            is_latest = True
            yield state.outlasted_by(channel)
        elif not part.waits:
            latest.append(state)
    yield from latest
    if channel is not None and is_latest:
        yield channel
    elif channel is not None and latest:
        yield channel.outlasted_by(min(latest, key=lambda file: file.ms_per_byte))


def _outlasts(channel: File, state: File) -> bool:
    """Return whether a part was ended by the file that it shares, not by its state."""
    at_once = state.end_ms <= (1 + _AT_ONCE) * channel.end_ms
    return at_once and channel.ms_per_byte < state.ms_per_byte
