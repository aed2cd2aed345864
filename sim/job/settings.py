"""What the settings of a job mean to its cores."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from ckptsim.models.coordinator import CoordinatorParameters
from ckptsim.models.lifecycle import RULES, StopMode, Variant
from ckptsim.models.recovery.detection import HeartbeatParameters
from ckptsim.models.recovery.restart import RestartParameters
from ckptsim.scenarios.job import Checkpointing, Job, Mode, Plane, Protocol, StopKind

# A run on buffers ends by its clock, so that a job may fail there again and again.  Assumptions.
_ATTEMPTS = {Plane.RECORDS: 100, Plane.BUFFERS: 100_000}


@dataclass(frozen=True, slots=True, kw_only=True)
class CoordinatorSettings:
    """What the host needs to know besides the core's own parameters.

    kind: of its calendar entries.  interval_ns: between periodic triggers.  skip_missed_ticks: a
    periodic request that had to wait is refused.  stop_mode: how the job is stopped.
    triggers_after_stop: periodic triggers continue after the savepoint of a stop.
    final_at_once: a checkpoint is triggered when all data has ended.
    notification_loss_ratio, storing_failure_ratio: shares of completion notifications that are
    lost, and of checkpoints that cannot be stored.
    """

    kind: int
    interval_ns: int
    skip_missed_ticks: bool = False
    stop_mode: StopMode = StopMode.DRAIN
    triggers_after_stop: bool = False
    final_at_once: bool = True
    notification_loss_ratio: float = 0.0
    storing_failure_ratio: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class JobSettings:
    """What of a scenario concerns the job as a whole.

    fault_kind: of the calendar entries of failures, which come before all others of an instant.
    heartbeat: how a task manager is missed that is gone without a broken connection.
    after_finish: checkpoints continue when tasks have finished.  restart: whether a failure is
    followed by a next attempt, and after which delay.  stop_at_ns: when the job is stopped.
    stop_again_ns: after which a stop that failed is asked for again.  savepoint_at_ns: when a
    savepoint is asked for.  wanted: completed checkpoints that end the run.
    transaction_timeout_ns: after which the external system gives up a transaction of a sink.
    attempts_most: after so many a job is taken for one that cannot run.
    """

    checkpointing: Checkpointing
    parameters: CoordinatorParameters
    coordinator: CoordinatorSettings
    fault_kind: int
    restart: RestartParameters
    heartbeat: HeartbeatParameters = field(default_factory=HeartbeatParameters)
    after_finish: bool = True
    stop_at_ns: int | None = None
    stop_again_ns: int = 0
    savepoint_at_ns: int | None = None
    wanted: int | None = None
    transaction_timeout_ns: int | None = None
    attempts_most: int = 100


def variant_of(job: Job) -> Variant:
    """Return the rules for the ends of a job's tasks."""
    return Variant.FLIP if job.ending.protocol is Protocol.FLIP else Variant.FLINK


def final_at_once(job: Job) -> bool:
    """Return whether a checkpoint is triggered when all data has ended.

    The scenario may say so. If not, the rules do that its tasks follow.  Never where checkpoints
    are off or end with tasks, and not in the naive protocol, which has no end of data.
    """
    checkpointing = job.checkpointing
    if not checkpointing.coordinated or not checkpointing.after_finish:
        return False
    if job.ending.protocol is Protocol.NAIVE:
        return False
    if checkpointing.immediate_final is None:
        return RULES[variant_of(job)].final_checkpoint_at_once
    return checkpointing.immediate_final


def in_mode(settings: JobSettings, mode: Mode) -> JobSettings:
    """Return the settings of a job with checkpoints that treat in-flight data in another way."""
    checkpointing = replace(settings.checkpointing, mode=mode)
    cleaning = settings.parameters.awaits_cleaning
    parameters = parameters_of(checkpointing, awaits_cleaning=cleaning)
    return replace(settings, checkpointing=checkpointing, parameters=parameters)


def parameters_of(
    checkpointing: Checkpointing, *, awaits_cleaning: bool = False
) -> CoordinatorParameters:
    """Return the coordinator's settings of a job."""
    return CoordinatorParameters(
        interval_ns=checkpointing.interval_ns if checkpointing.coordinated else None,
        timeout_ns=checkpointing.timeout_ns,
        min_pause_ns=checkpointing.min_pause_ns,
        max_concurrent=checkpointing.max_concurrent,
        max_queued=checkpointing.max_queued,
        tolerable_failures=checkpointing.tolerable_failures,
        retained=checkpointing.retained,
        exactly_once=checkpointing.exactly_once,
        unaligned=checkpointing.unaligned,
        alignment_timeout_ns=checkpointing.alignment_ends_after_ns,
        awaits_cleaning=awaits_cleaning,
    )


def job_settings(job: Job, *, kind: int, fault_kind: int, may_stop: bool = True) -> JobSettings:
    """Return what of a scenario concerns the job as a whole.

    kind, fault_kind: of calendar entries.  A job without an end is stopped at its horizon on
    records. On buffers its run ends.  may_stop: it is stopped at all.
    """
    checkpointing = job.checkpointing
    drain = job.ending.stop_kind is StopKind.DRAIN
    stop_ns = job.ending.stop_at_ns
    endless = any(vertex.is_endless for vertex in job.vertices)
    cleaning = job.plane is Plane.BUFFERS and job.storage.deletes_take_time
    if stop_ns is None and endless and job.plane is Plane.RECORDS:
        stop_ns = job.ending.horizon_ns
    return JobSettings(
        checkpointing=checkpointing,
        parameters=parameters_of(checkpointing, awaits_cleaning=cleaning),
        coordinator=CoordinatorSettings(
            kind=kind,
            interval_ns=checkpointing.interval_ns,
            skip_missed_ticks=checkpointing.skip_missed_ticks,
            stop_mode=StopMode.DRAIN if drain else StopMode.NO_DRAIN,
            triggers_after_stop=RULES[variant_of(job)].triggers_after_stop,
            final_at_once=final_at_once(job),
            notification_loss_ratio=job.costs.notification_loss_ratio,
            storing_failure_ratio=job.costs.checkpoint_failure_ratio,
        ),
        fault_kind=fault_kind,
        after_finish=checkpointing.after_finish,
        restart=job.restart.parameters,
        heartbeat=job.recovery.heartbeat,
        stop_at_ns=stop_ns if may_stop else None,
        stop_again_ns=job.restart.longest_delay_ns + 2 * checkpointing.interval_ns,
        savepoint_at_ns=checkpointing.savepoint_at_ns,
        wanted=checkpointing.count,
        transaction_timeout_ns=job.costs.transaction_timeout_ns,
        attempts_most=_ATTEMPTS[job.plane],
    )
