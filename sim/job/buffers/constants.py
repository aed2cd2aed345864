"""What machine, storage and harness cost: a profile, the same for every run that has it.

The values were found on measurements of Apache Flink 1.20.3.  `PLAIN` is the default and has no
quirks: one processor per slot, limits that are kept to the byte, deletes in the background.  `RIG`
is the rig of the oldest measurements: one JVM with several task managers on two cores, operators
that are slow by waiting, a throttle with steps.  Below each constant is where it shows in the
measurements, and what happens to the predictions when it is wrong.  The mechanisms can be left out,
to see what each is worth: every one is real, so without it the model is wrong on purpose.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

from ckptsim.scenarios.job import Job, PlacementKind, Profile

_US = 1_000
_MS = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Constants:
    """Times in ns unless the name says otherwise. The defaults are the ones of `PLAIN`."""

    wake_ns: int = 50 * _US
    """A parked task thread wakes up.  Assumption: usual cost of a futex on Linux.  Hardly felt: a
    task wakes once per buffer at most."""

    record_ns: int = 2 * _US
    """Handling of one record besides its service.  Found: operators of 100 us per record reach 104
    us.  Scales durations under back-pressure: 1 us is 0.1 % at 1 ms per record."""

    park_overshoot_ns: int = 0
    """A waiting operator sleeps too long.  Found on the rig, 20 us: operators of 1,000 us per
    record take 1,022 us in the median of the measured throughputs (1,014 to 1,058), which is 2 % of
    such durations."""

    park_min_ns: int = 900 * _US
    """Shorter services are saved up until one sleep is worth it.  Source: how the measured
    operators wait.  Decides only how `park_overshoot_ns` is spread over records."""

    source_record_ns: int = 3 * _US
    """An unlimited source makes one record of 1 KiB.  Found: how often receivers count a split
    buffer after an alignment.  1 to 3 us change durations by up to 3 %, others not at all."""

    catch_up_ns: int = 5 * _MS
    """How much a source with a rate catches up.  Source: how the measured sources emit."""

    rpc_ns: int = 2 * _MS
    """A message between coordinator and task.  Found with `message_cost_ns`: sources see a trigger
    after 3 ms at one source and 6 ms at four.  A chain with its bottleneck at the end lengthens by
    9 ms per ms, if checkpoints follow each other at once."""

    message_cost_ns: int = 1_500 * _US
    """A core's work for one message.  Found: see `rpc_ns`."""

    acknowledge_cost_ns: int = 1_500 * _US
    """A core's work to end a task's part and acknowledge it.  Found: with `rpc_ns`, the median of
    end-to-end minus start delay and alignment at tasks without state is 3 ms."""

    flusher_overshoot_ns: int = 100 * _US
    """The output flusher sleeps a little too long.  Assumption: as other sleeps of threads.
    Without it flushes keep their phase to the trigger for a whole run."""

    complete_ns: int = 1_500 * _US
    """The coordinator finishes a checkpoint.  Found: the gap between a checkpoint that outlasts its
    interval and the next trigger is 4 to 7 ms, together with what the cores do meanwhile."""

    pause_ratio: float = 0.0
    """How often the machine pauses (garbage collection, other processes) before a completed
    checkpoint is followed by the next trigger.  Found on the rig, 0.2, with
    `pause_ns`: of those gaps 10 % are above 24 ms and 5 % above 30 to 50 ms.  Shows in the slowest
    checkpoints of long chains only."""

    pause_ns: int = 25 * _MS
    """Mean length of such a pause, exponential.  Found: see `pause_ratio`."""

    finish_ns: int = 9 * _MS
    """A closed task is known to have finished.  Found: jobs finish 20 to 50 ms after their last
    record, and 7 to 8 ms after a checkpoint that only the last task waits for."""

    cold_finish_ns: int = 30 * _MS
    """What comes on top in the first job of a process, where no task has closed before.  Found:
    such jobs finish 25 to 106 ms after their last record, 30 ms more than the next ones."""

    timer_extra_ns: int = 1 * _MS
    """Timers of the runtime run 1 ms late.  Source: Apache Flink 1.20.3,
    ProcessingTimeServiceUtil.getProcessingTimeDelay."""

    debloat_period_ns: int = 200 * _MS
    """Source: Apache Flink 1.20.3, taskmanager.network.memory.buffer-debloat.period."""

    sample_period_ns: int = 400 * _MS
    """Queue lengths are sampled this often.  Source: how the measurements were made."""

    cores: int = 0
    """Processor cores for small jobs; 0: one per slot.  The rig has 2.  All parts of checkpoints
    that processors work for take the longer, the fewer there are for their number."""

    barrier_cost_ns: int = 2_500 * _US
    """A core's work to begin a task's part, before the barrier is sent on; the thread does nothing
    else meanwhile.  Found: start delays of unaligned checkpoints grow by 3 to 4 ms per hop in a
    chain of single subtasks, by 9 to 11 ms with four subtasks per task."""

    file_cost_ns: int = 5 * _MS
    """A core's work for a state file, besides its bytes.  Found: with `state_ns_per_mb`."""

    state_ns_per_mb: int = 1_500 * _US
    """A core's work to serialise 1,000,000 bytes of state.  Found: the asynchronous part of 20 MB
    on local files takes 36 ms."""

    sst_ns_per_mb: int = 1_000 * _US
    """The same of files of RocksDB, which are only copied.  Found: 110 MB in files of a compaction
    take 70 to 170 ms on a memory disk."""

    flush_ns: int = 18 * _MS
    """The one thread of a task manager that flushes memtables begins and ends a flush.  Found with
    `flush_ns_per_mb` and `update_ns`: the synchronous parts of two subtasks are 45 and 85 ms with
    7.9 MB each, 78 ms with 15.8 MB of one, 54 ms with 3.4 MB in 30,000 entries."""

    flush_ns_per_mb: int = 2_400 * _US
    """The same per 1,000,000 bytes that it writes."""

    update_ns: int = 1 * _US
    """The same per update since the flush before."""

    new_process_ns: int = 400 * _MS
    """A task begins later in a process that has just come, which loads its classes.  Found:
    restores on the task manager that takes the place of a killed one take 0.4 s more."""

    slots_return: bool = False
    """A task manager that ends gives its slots back.  So it was on the rig, where it was stopped
    inside its process.  Of a process that was killed the job manager offers slots until requests
    for heartbeats have failed; found: 15 restarts in 18 s with an interval of 10 s."""

    restore_ns_per_mb: int = 18 * _MS
    """A core's work to read 1,000,000 bytes of state back onto the heap, while bytes come.  Found:
    local recovery of 80 MB on two cores takes 750 ms.  Decides where a storage is faster."""

    open_rocksdb_ns: int = 50 * _MS
    """A core's work to open RocksDB on files.  Found: restores of four subtasks on two cores take
    130 to 230 ms more than their files, and 200 ms from local files."""

    channel_file_cost_ns: int = 3_500 * _US
    """A core's work for a channel-state file, besides its bytes.  Found: asynchronous parts of 4 to
    7 ms with two writers, 9 to 13 ms with four, 25 ms with eight, 36 ms with twelve."""

    channel_ns_per_mb: int = 4_000 * _US
    """A core's work to copy 1,000,000 bytes in flight.  Found: with `channel_file_cost_ns`."""

    discard_file_ns: int = 0
    """A core's work to delete a file of the checkpoint that was replaced; 0: a request in the
    background, for which no trigger waits.  Found on the rig, 1 ms, with `discard_ns_per_mb`."""

    discard_ns_per_mb: int = 0
    """The same per 1,000,000 bytes of it.  Found on the rig, 0.7 ms: triggers right after a
    checkpoint that replaces two files of 10 MB reach the sources after 9 to 11 ms instead of 4.
    Felt only in chains whose checkpoints follow each other at once, see `rpc_ns`."""

    chunk_bytes: int = 4096
    """Write buffer of a checkpoint stream.  Source: Apache Flink 1.20.3,
    state.storage.fs.write-buffer-size."""

    overlaps: bool = True
    """The bytes of a file are on their way while a core serialises more of them.  On the rig one
    follows the other: its constants were found together.  Decides where both take about as long."""

    limiter_step_ns: int = 1 * _MS
    """The throttled file system of the rig waits in steps of at least this.  Source: how it works.
    Without an overshoot it has no effect."""

    limiter_overshoot_ns: int = 0
    """How much each step is too long.  Found on the rig, 65 us, with
    `limiter_chunk_ns`: 10 MB take 582 ms at a nominal 20 MB/s and 2,130 ms at 5 MB/s, which are two
    equations for the two."""

    limiter_chunk_ns: int = 0
    """Handing one chunk to a limited stream.  Found on the rig, 12 us: see
    `limiter_overshoot_ns`.  Streams of 1 MB/s and two streams that share a limit agree with it."""

    read_loss_ratio: float = 0.0
    """By how much a limited stream that is read stays below its rate.  Found on the rig, 0.05:
    subtasks with 10 MB of state open after 546 and 548 ms at a nominal 20 MB/s, and after 2,089 to
    2,458 ms at 5 MB/s, those without state after 37 ms."""


PLAIN = Constants()
RIG = Constants(
    park_overshoot_ns=20 * _US,
    pause_ratio=0.2,
    cores=2,
    discard_file_ns=1 * _MS,
    discard_ns_per_mb=700 * _US,
    overlaps=False,
    limiter_overshoot_ns=65 * _US,
    limiter_chunk_ns=12 * _US,
    read_loss_ratio=0.05,
    new_process_ns=0,
    slots_return=True,
    restore_ns_per_mb=1_500 * _US,
)
PROFILES: Mapping[Profile, Constants] = {Profile.PLAIN: PLAIN, Profile.RIG: RIG}

_WORK = (
    "message_cost_ns",
    "acknowledge_cost_ns",
    "complete_ns",
    "barrier_cost_ns",
    "file_cost_ns",
    "state_ns_per_mb",
    "sst_ns_per_mb",
    "channel_file_cost_ns",
    "channel_ns_per_mb",
    "discard_file_ns",
    "discard_ns_per_mb",
    "rpc_ns",
)
"""What a busier or slower machine takes longer for: work for messages, barriers and files."""


def constants_of(job: Job, constants: Constants | None = None) -> Constants:
    """Return the constants of a job's profile on its machine: its cores, its work times as long.

    constants: in the place of the profile's.
    """
    found = PROFILES[job.profile] if constants is None else constants
    factor, cores = job.machine.cost_factor, job.machine.cores or found.cores or slots_of(job)
    work = {name: round(getattr(found, name) * factor) for name in _WORK} if factor != 1.0 else {}
    return replace(found, cores=cores, **work)


def without_quirks(constants: Constants) -> Constants:
    """Return constants with a limiter that is exact."""
    return replace(constants, limiter_overshoot_ns=0, limiter_chunk_ns=0)


def slots_of(job: Job) -> int:
    """Return the slots that a job takes: one holds a subtask of each vertex on its task manager."""
    vertices = job.spelled_out().vertices
    if job.placement is PlacementKind.REMOTE:
        return sum(vertex.parallelism for vertex in vertices)
    if job.placement is not PlacementKind.MAP:
        return max(vertex.parallelism for vertex in vertices)
    most: Counter[int] = Counter()
    for vertex in vertices:
        for manager, count in Counter(vertex.task_managers).items():
            most[manager] = max(most[manager], count)
    return max(1, most.total())


def step_ns(service_ns: int, constants: Constants) -> int:
    """Return the time per record: the service, and what waiting and handling add to it."""
    if not service_ns:
        return constants.record_ns
    per_park = max(1, -(-constants.park_min_ns // service_ns))
    return service_ns + constants.record_ns + constants.park_overshoot_ns // per_park


def service_of_step(step: int, constants: Constants) -> int:
    """Return the service with which a record takes `step` ns: what `step_ns` turns round."""
    service = max(0, step - constants.record_ns)
    return max(0, service - (step_ns(service, constants) - step))


@dataclass(frozen=True, slots=True, kw_only=True)
class Mechanisms:
    """What the model does. All on by default.

    stops_early: a task stops when the pool has no free segment left or a channel its maximum, not
    only when a record finds none. freed_when_read: a receiver's buffer is free when its last record
    is read, not when processed. slices: a flush sends what an open buffer holds and lets the sender
    continue filling it, instead of closing it. random_keys: keys are drawn at random. Otherwise the
    channels take turns. keys_stay: a second keyed edge of equal parallelism keeps a record on its
    subtask index. shared_cores: small jobs queue for the cores. Otherwise each has a core of its
    own.
    """

    stops_early: bool = True
    freed_when_read: bool = True
    slices: bool = True
    random_keys: bool = True
    keys_stay: bool = True
    shared_cores: bool = True


MECHANISMS = Mechanisms()
