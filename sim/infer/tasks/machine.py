"""What the recorded machine was like, beside the one that the model's costs were measured on."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from itertools import pairwise
from statistics import median

from ckptsim.models.barriers.channel_state import MAX_SUBTASKS_PER_FILE
from ckptsim.scenarios.job import Machine, Mode, Storage
from ckptsim.sim.infer.found import Found, Sureness
from ckptsim.sim.infer.options import mode_of
from ckptsim.sim.infer.tasks.load import times_of
from ckptsim.sim.infer.tasks.state import Member, groups_of
from ckptsim.sim.job.buffers.constants import PLAIN, Constants
from ckptsim.sim.recording import CheckpointAnswer, Recording, SubtaskAnswer, SubtaskPart

_PARTS = ("/checkpoints/details/:id/subtasks/:id",)
_MB = 1_000_000
_MS = 1_000_000
_LEAST, _MOST = 0.1, 20.0
# What a scenario can hold.
_MOST_CORES = 100_000
# Down to this part of the usual time a machine is as quick as the one of the costs.  Source: the
# quickest of five recordings that were made on it.
_AS_QUICK = 0.65
# The same of what tasks do from their last barrier on.  Source: the quickest of those recordings.
# What a quicker machine writes gets quicker by more than that, so its costs go with the square.
# Source: twelve jobs on a second machine, which took 0.6 of the usual time for the parts of its
# tasks and 0.3 of it for files of data in flight.
_PARTS_AS_QUICK = 0.77
# Fewer parts of sources, or checkpoints with files, say nothing.
_FEWEST = 3
# Clocks count ms, so that work which takes cores less time says little of them.
_LEAST_WORK_MS = 10.0
# A task that is busy for so much of its time waits for nothing, and its busy time has no lumps.
_SATURATED = 0.95
# Windows between two samples that are shorter, or have fewer records, are left out.
_WINDOW_MS = 1000.0
_WINDOW_RECORDS = 200.0


class MachineChoice(StrEnum):
    """Which machine an answer is for."""

    QUIET = "quiet"  # one that has nothing else to do
    RECORDED = "recorded"  # as busy as while it was recorded


def cores_of(recording: Recording) -> Found[int | None]:
    """Return the processors of all hosts that the job runs on, each host counted once.

    A task manager shows the ones of its host, or of its container, which then has an address of its
    own.  Task managers without an address are threads of one process.
    """
    used = {one.task_manager for vertex in recording.vertices for one in vertex.subtasks}
    hosts: dict[str | None, int] = {}
    for one in recording.task_managers:
        if one.cores is not None and (one.id in used or used <= {None}):
            hosts[one.host] = max(hosts.get(one.host, 0), one.cores)
    if not hosts:
        return Found(
            value=None,
            how="no task manager says; as many as the profile has",
            answers=(),
            sure=Sureness.ASSUMED,
            effect="the fewer they are, the longer many subtasks wait with their parts",
        )
    where = "one host" if len(hosts) == 1 else f"{len(hosts)} hosts"
    return Found(
        value=min(_MOST_CORES, sum(hosts.values())),
        how=f"hardware.cpuCores of the task managers of the job, on {where}",
        answers=("/taskmanagers",),
        sure=Sureness.READ,
    )


def usual_cores(recording: Recording, cores: int | None, constants: Constants) -> int:
    """Return the cores that share work, where none are reported as many as a profile has."""
    return cores or constants.cores or max(vertex.parallelism for vertex in recording.vertices)


def machine_of(
    recording: Recording,
    choice: MachineChoice,
    cores: int | None = None,
    *,
    storage: Storage | None = None,
    subtasks_per_file: int = MAX_SUBTASKS_PER_FILE,
    constants: Constants = PLAIN,
) -> Found[Machine]:
    """Return the machine that an answer is for.

    cores: of all hosts, None for as many as the profile has.  storage: what limits files, None
    where that is not known.  constants: of the profile. Its factor comes from files of in-flight
    data, or else from the acknowledgements of sources: both wait for nothing but messages and
    processors.  It may be quicker, too: an engine that has run for a while has its code compiled.
    So may a quiet one be, which is no slower than the recorded one. In what triggers wait for the
    recorded machine's other work shows, so of a quiet one it is what tasks do from their last
    barrier on that shows.
    """
    found = None
    usual = usual_cores(recording, cores, constants)
    if storage is not None and storage.write_bytes_per_s is None and not storage.create_latency_ns:
        limits = (storage.inline_threshold_bytes, subtasks_per_file, usual)
        found = _of_files(recording, limits)
    found = found or _of_parts(recording, choice, usual)
    if found is None:
        return Found(
            value=Machine(cores=cores),
            how="too few parts of tasks in checkpoints, and files, to tell",
            answers=(),
            sure=Sureness.ASSUMED,
            effect="messages and files take longer on a busy machine",
        )
    factor, how = found
    most = 1.0 if choice is MachineChoice.QUIET else _MOST
    factor = round(min(most, max(factor, _LEAST)), 2)
    return Found(
        value=Machine(cores=cores, cost_factor=factor),
        how=how,
        answers=_PARTS,
        sure=Sureness.ESTIMATED,
    )


def _of_parts(recording: Recording, choice: MachineChoice, cores: int) -> tuple[float, str] | None:
    """Return the factor that parts in checkpoints tell, and in words how they do."""
    mode = mode_of(recording).value[0]
    if mode is Mode.ALIGNED_TIMEOUT:
        return None  # parts of sources last until their barriers have left, or time out
    # Where barriers overtake, parts wait for files that others write, too.
    if choice is MachineChoice.QUIET and mode is not Mode.UNALIGNED:
        return _of_own_parts(recording, cores)
    return _of_sources(recording, cores)


def _of_own_parts(recording: Recording, cores: int) -> tuple[float, str] | None:
    """Return the factor that tasks tell by what they do from their last barrier on.

    That is work of the cores for one subtask of a vertex after the other, and no message.
    """
    usual_ms = {
        vertex.id: _usual_part_ms(vertex.parallelism, cores) for vertex in recording.vertices
    }
    found = []
    for one in recording.completed[1:]:
        parts = [
            (_own_ms(part), usual_ms[vertex])
            for vertex, parts in one.parts.items()
            for part in parts
            if vertex in usual_ms and _waits_for_nothing(part)
        ]
        if parts:
            found.append(tuple(sum(column) / len(parts) for column in zip(*parts, strict=True)))
    if len(found) < _FEWEST:
        return None
    ratio = median(own / usual for own, usual in found)
    own, usual = (median(column) for column in zip(*found, strict=True))
    how = f"tasks took {own:.1f} ms from their last barrier on, {usual:.1f} usual"
    return ratio if ratio >= 1 else min(1.0, (ratio / _PARTS_AS_QUICK) ** 2), how


def _own_ms(part: SubtaskPart) -> float:
    """Return what a part took from its last barrier on. A source has none."""
    return max(0.0, part.end_to_end_ms - part.start_delay_ms - part.alignment_ms)


def _of_sources(recording: Recording, cores: int) -> tuple[float, str] | None:
    """Return the factor that sources tell, and in words how they do."""
    sources = [vertex for vertex in recording.vertices if not vertex.inputs]
    times = [
        part.end_to_end_ms
        for one in recording.completed[1:]
        for source in sources
        for part in one.parts.get(source.id, ())
        if _waits_for_nothing(part)
    ]
    if len(times) < _FEWEST:
        return None
    usual_ms = _usual_ms(sum(vertex.parallelism for vertex in sources), cores)
    how = f"sources acknowledged {median(times):.0f} ms after the trigger, {usual_ms:.0f} usual"
    return _factor(median(times) / usual_ms), how


def _factor(ratio: float) -> float:
    """Return the factor of a machine with work of `ratio` of the usual time."""
    return max(ratio, min(1.0, ratio / _AS_QUICK))


def _of_files(recording: Recording, limits: tuple[int, int, int]) -> tuple[float, str] | None:
    """Return the factor that files of data in flight tell, and in words how they do.

    limits: bytes that need no file, subtasks that share one, cores. Cores write the files side by
    side, and make the acknowledgements after them.
    """
    inline_bytes, subtasks_per_file, cores = limits
    mode, timeout_ns = mode_of(recording).value
    timeout_ms = timeout_ns / _MS if mode is Mode.ALIGNED_TIMEOUT else 0.0
    groups = groups_of(recording, subtasks_per_file)
    found = []
    for one in recording.completed[1:]:
        files = [parts for group in groups if (parts := _parts_of(one, group))]
        persisted = [sum(part.persisted_bytes for part in file) for file in files]
        sizes = [size for size in persisted if size > inline_bytes]
        states = [part for file in files for part in file if _state_bytes(part) > inline_bytes]
        if not sizes or states or len(files) < len(groups):
            continue
        waits = [
            max(part.end_to_end_ms for part in file)
            - max(timeout_ms, *(part.start_delay_ms + part.alignment_ms for part in file))
            for file, size in zip(files, persisted, strict=True)
            if size > inline_bytes
        ]
        work_ns = len(sizes) * PLAIN.channel_file_cost_ns
        work_ns += PLAIN.channel_ns_per_mb * sum(sizes) // _MB
        acknowledged_ns = sum(map(len, files)) * PLAIN.acknowledge_cost_ns / cores
        usual_ms = (work_ns / min(cores, len(sizes)) + acknowledged_ns + PLAIN.rpc_ns) / _MS
        if usual_ms >= _LEAST_WORK_MS:
            found.append((median(waits), usual_ms))
    if len(found) < _FEWEST:
        return None
    waited_ms, usual_ms = (median(column) for column in zip(*found, strict=True))
    how = f"files of data in flight were acknowledged {waited_ms:.0f} ms after their last data"
    return _factor(waited_ms / usual_ms), f"{how}, {usual_ms:.0f} usual"


def _parts_of(checkpoint: CheckpointAnswer, group: tuple[Member, ...]) -> list[SubtaskPart]:
    """Return the parts of the subtasks of one file, none where some of them are not known."""
    found = [
        part
        for vertex, subtask in group
        for part in checkpoint.parts.get(vertex, ())
        if part.subtask == subtask
    ]
    return found if len(found) == len(group) else []


def _state_bytes(part: SubtaskPart) -> int:
    return part.checkpointed_bytes - part.persisted_bytes


def _usual_ms(sources: int, cores: int) -> float:
    """Return when the middle one of so many subtasks acknowledges, on the machine of the costs.

    Trigger and acknowledgement are messages. The cores take one source after the other.
    """
    work_ns = PLAIN.message_cost_ns + PLAIN.barrier_cost_ns + PLAIN.acknowledge_cost_ns
    rounds = max(1.0, (sources / cores + 1) / 2)
    return (2 * PLAIN.rpc_ns + rounds * work_ns) / _MS


def _usual_part_ms(subtasks: int, cores: int) -> float:
    """Return what one of so many subtasks needs in the mean to take its part and acknowledge it.

    Found: in aligned checkpoints on the machine of the costs it is 4.0 ms in vertices of one
    subtask, 4.5 of two, and 6.3 to 7.3 of four.
    """
    work_ns = PLAIN.barrier_cost_ns + PLAIN.acknowledge_cost_ns
    return max(1.0, (subtasks / cores + 1) / 2) * work_ns / _MS


def _waits_for_nothing(part: SubtaskPart) -> bool:
    return not part.persisted_bytes and not part.unaligned and part.checkpointed_bytes < 20_000


def pace_of(recording: Recording, choice: MachineChoice) -> Found[float]:
    """Return what part of the recorded service times a record takes on the machine asked for.

    A task that is busy all the time takes as long for a record as its work does and the machine
    lets it. Where the machine is busy with other things some windows are slower than others.  The
    fastest window between two samples is the work, as near as a recording shows.
    """
    ratios = [
        ratio
        for vertex in recording.vertices
        if vertex.inputs
        for subtask in vertex.subtasks
        if (ratio := _fastest(subtask)) is not None
    ]
    if choice is MachineChoice.RECORDED or not ratios:
        what = "as asked: service times as they were recorded"
        if choice is MachineChoice.QUIET:
            what = "no task was busy all the time: service times as they were recorded"
        return Found(value=1.0, how=what, answers=(), sure=Sureness.ESTIMATED)
    return Found(
        value=sum(ratios) / len(ratios),
        how=f"fastest window of {len(ratios)} subtasks that were busy all the time, over the whole",
        answers=("/vertices/:id/metrics?get",),
        sure=Sureness.ESTIMATED,
    )


def _fastest(subtask: SubtaskAnswer) -> float | None:
    """Return the least service time of a window over the one of all. None where it had to wait."""
    whole = times_of(subtask)
    if whole is None or whole.busy_ms < _SATURATED * whole.clock_ms or not whole.records_in:
        return None
    windows = [
        times.busy_ms / times.records_in
        for pair in pairwise(subtask.samples)
        if (times := times_of(replace(subtask, samples=pair))) is not None
        and times.clock_ms >= _WINDOW_MS
        and times.records_in >= _WINDOW_RECORDS
    ]
    if len(windows) < 2:
        return None
    return min(windows) / (whole.busy_ms / whole.records_in)
