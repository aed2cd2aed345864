"""What a restart costs on the modelled machine: few constants, the same for every run.

They were found on measurements of Apache Flink 1.20.3 (`tests/data/flink/recovery.jsonl`: one JVM
with several task managers on a machine with two cores), over the whole file: means of the parts of
a restart as Flink's own instants of job and subtask states give them.  The first restart of a JVM
takes longer in every part, since classes are loaded and compiled. So there are two sets.  None
belongs to a run, a family of runs or a checkpoint mode.
"""

from __future__ import annotations

from dataclasses import dataclass

_MS = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class RestartCosts:
    """Times in ns. Each is a part of every restart, in this order."""

    report_ns: int
    """A failed task cleans up and reports.  Found: failure to RESTARTING of the job takes 30 to 127
    ms the first time (mean 59) and 8 to 20 ms, once 127, later (mean 27)."""

    cancel_ns: int
    """From there until the last source is cancelled.  Found: how far sources have emitted behind
    their failure, 12 to 49 ms the first time (mean 29) and 10 to 20 ms later."""

    restart_ns: int
    """From the end of delay and cancellation to new executions.  Found: RESTARTING to CREATED less
    the restart delay is 5 to 64 ms the first time (mean 29) and 2 to 14 ms later."""

    schedule_ns: int
    """Slots are assigned and deployments prepared.  Found: CREATED to DEPLOYING takes 13
    to 73 ms the first time (mean 37) and 4 to 14 ms later."""

    deploy_ns: int
    """The part of a deployment that tasks have side by side.  Found with `deploy_cost_ns`."""

    deploy_cost_ns: int
    """A core's work to deploy one task.  Found: DEPLOYING to INITIALIZING takes 17 to 65 ms with
    four tasks, 63 to 99 ms with eight the first time; 21 to 43 ms later."""

    open_ns: int
    """The part of the restore of a task without state that tasks have side by side.  Found with
    `open_cost_ns`."""

    open_cost_ns: int
    """A core's work to restore and open one task.  Found: INITIALIZING to the opened operator takes
    15 to 59 ms the first time and 7 to 50 ms later (medians 37 and 20)."""

    request_ns: int
    """Partitions are requested and connections made.  Found: the first record of an operator comes
    10 to 40 ms after its opening and the first record of a source, 4 to 26 ms later."""

    warm_up_ratio: float
    """By how much.  Found with `warm_up_ns`."""

    warm_up_ns: int = 3_000 * _MS
    """How long a task is slower after it was opened: its code is loaded by a new class loader and
    compiled anew.  Found: records per second of the last operator while it has a backlog, over all
    restarts, are 2.4 %, 3.5 % and 2.6 % below what its service allows in the first three seconds
    (23, 20 and 17 restarts), 1.2 % in the fourth, then 1 % and less.  One second gives a mean error
    of catching up of 4.7 %, two 4.3 %, three 4.2 %, four 4.3 %."""

    slot_ns: int = 80 * _MS
    """A slot on a task manager that has just come, besides.  Found: SCHEDULED to DEPLOYING where a
    task manager was lost, less the same elsewhere."""


FIRST = RestartCosts(
    report_ns=54 * _MS,
    cancel_ns=25 * _MS,
    restart_ns=26 * _MS,
    schedule_ns=32 * _MS,
    deploy_ns=5 * _MS,
    deploy_cost_ns=20 * _MS,
    open_ns=8 * _MS,
    open_cost_ns=16 * _MS,
    request_ns=12 * _MS,
    warm_up_ratio=0.028,
)
LATER = RestartCosts(
    report_ns=20 * _MS,
    cancel_ns=12 * _MS,
    restart_ns=8 * _MS,
    schedule_ns=8 * _MS,
    deploy_ns=15 * _MS,
    deploy_cost_ns=8 * _MS,
    open_ns=8 * _MS,
    open_cost_ns=8 * _MS,
    request_ns=8 * _MS,
    warm_up_ratio=0.014,
)
