"""What the modelled machine costs: few constants, the same for every run.

They were found on measurements of Apache Flink 1.20.3 (one JVM with several task managers on a
machine with two cores, operators that are slow by waiting).  None belongs to a run, a family of
runs or a checkpoint mode.  `says` of each constant is below it: where it shows in the measurements,
and what happens to the predictions when it is wrong.
"""

from __future__ import annotations

from dataclasses import dataclass

_US = 1_000
_MS = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Constants:
    """Times in ns unless the name says otherwise."""

    wake_ns: int = 50 * _US
    """A parked task thread wakes up.  Assumption: usual cost of a futex on Linux.  Hardly felt: a
    task wakes once per buffer at most."""

    record_ns: int = 2 * _US
    """Handling of one record besides its service.  Found: operators of 100 us per record reach 104
    us.  Scales durations under back-pressure: 1 us is 0.1 % at 1 ms per record."""

    park_overshoot_ns: int = 20 * _US
    """A waiting operator sleeps too long.  Found: operators of 1,000 us per record take 1,022 us in
    the median of the measured throughputs (1,014 to 1,058).  20 us are 2 % of such durations."""

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

    message_cost_ns: int = 1 * _MS
    """A core's work for one message.  Found: see `rpc_ns`."""

    acknowledge_ns: int = 3 * _MS
    """An acknowledgement reaches the coordinator.  Found: median of end-to-end minus start delay
    and alignment at tasks without state (3 ms)."""

    complete_ns: int = 2 * _MS
    """The coordinator finishes a checkpoint.  Found: the gap between a checkpoint that outlasts its
    interval and the next trigger is 4 to 7 ms, together with what the cores do meanwhile."""

    finish_ns: int = 5 * _MS
    """A closed task is known to have finished.  Found: tasks finish 15 to 40 ms after the final
    checkpoint's trigger."""

    timer_extra_ns: int = 1 * _MS
    """Timers of the runtime run 1 ms late.  Source: Apache Flink 1.20.3,
    ProcessingTimeServiceUtil.getProcessingTimeDelay."""

    debloat_period_ns: int = 200 * _MS
    """Source: Apache Flink 1.20.3, taskmanager.network.memory.buffer-debloat.period."""

    sample_period_ns: int = 400 * _MS
    """Queue lengths are sampled this often.  Source: how the measurements were made."""

    cores: int = 2
    """Processor cores for small jobs.  Source: the measured machine."""

    file_cost_ns: int = 5 * _MS
    """A core's work for a state file, besides its bytes.  Found: 20 MB on local files: 36 ms."""

    channel_file_cost_ns: int = 7 * _MS
    """A core's work for a channel-state file.  Found: unaligned checkpoints take 17 ms with two
    writing subtasks, 21 to 36 ms with four, 57 to 64 ms with eight to twelve."""

    discard_cost_ns: int = 5 * _MS
    """A core's work to delete a file of the checkpoint that was replaced.  Found: triggers right
    after a checkpoint with files reach the sources later."""

    copy_bytes_per_s: int = 650_000_000
    """How fast state is serialised and written without a limit.  Found: asynchronous part of 20 MB
    on local files."""

    chunk_bytes: int = 4096
    """Write buffer of a checkpoint stream.  Source: Apache Flink 1.20.3,
    state.storage.fs.write-buffer-size."""

    limiter_step_ns: int = 1 * _MS
    """The measured throttled file system waits in steps of at least this.  Source: how it works."""

    limiter_overshoot_ns: int = 120 * _US
    """How much each step is too long.  Found: 15 % below nominal at 20 MB/s, 6 % at 5 MB/s, 2 % at
    1 MB/s."""


CONSTANTS = Constants()
