"""Parts of a dataflow world that are wrong in one way each, and the property that each breaks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest

from ckptsim.scenarios import job as jobs
from ckptsim.scenarios.job import faults as job_faults
from ckptsim.scenarios.job.ending import Ending
from ckptsim.sim.slots import OURS, ProtocolCores
from ckptsim.sim.slots.resolve import resolve
from tests.job.buffers import broken_ends
from tests.job.buffers.broken_parts import (
    Forgetful,
    Swapping,
    counts_headers_twice,
    credits_twice,
    deals_out,
    deals_out_too_little,
    forgets_a_buffer,
    forgets_a_record,
    forgets_half_of_what_was_processed,
    frees_in_silence,
    grants_all,
    keeps_credit,
    loses_in_flight_data,
    overhears_priority,
    restores_in_flight_data_twice,
    restores_what_was_sent_first,
    sends_again,
)
from tests.job.buffers.plans import on_buffers
from tests.job.properties import worlds
from tests.job.properties.cores import NeverSubsumes, PersistsBehindTheBarrier

MS = 1_000_000
Patch = pytest.MonkeyPatch


def mutant(name: str) -> ProtocolCores:
    """Return the cores of a job with a mutant in its slot."""
    return ProtocolCores(**resolve("barriers", mutant=name).factories)


def job(
    mode: jobs.Mode = jobs.Mode.ALIGNED,
    *,
    rate_per_s: float | None = None,
    partitioner: jobs.Partitioner = jobs.Partitioner.HASH,
    network: dict[str, Any] | None = None,
    duration_ns: int = 450 * MS,
    **checkpoint: Any,
) -> jobs.Job:
    """Return two sources before two operators that take 1 ms per record."""
    edge = jobs.Input(upstream="source", partitioner=partitioner)
    settings = {"interval_ns": 50 * MS, "tolerable_failures": 1000, "first_trigger_ns": 20 * MS}
    return on_buffers(
        jobs.Vertex(
            kind=jobs.VertexKind.SOURCE, name="source", parallelism=2, rate_per_s=rate_per_s
        ),
        jobs.Vertex(name="operator", parallelism=2, inputs=(edge,)),
        network=jobs.Network(**({"segment_bytes": 4096} | (network or {}))),
        checkpointing=jobs.Checkpointing(mode=mode, **(settings | checkpoint)),
        duration_ns=duration_ns,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """A broken part: which property it breaks, and the job that shows it.

    protocol: the cores. patch: everything that is put into the place of a part of the world.
    """

    breaks: str
    model: jobs.Job
    faults: tuple[job_faults.JobFault, ...] = ()
    protocol: ProtocolCores = OURS
    patch: Callable[[Patch], None] = lambda _: None


def into_sink(model: jobs.Job, **settings: Any) -> jobs.Job:
    """Return the job with operators that write into transactions."""
    source, operator = model.vertices
    return replace(
        model, vertices=(source, replace(operator, kind=jobs.VertexKind.SINK, **settings))
    )


def ending(model: jobs.Job, records: int = 400) -> jobs.Job:
    """Return the job with sources that end, which is restarted at once when it fails."""
    vertices = tuple(replace(v, records=records) if v.is_source else v for v in model.vertices)
    restart = jobs.FixedDelay(delay_ns=0)
    return replace(model, vertices=vertices, duration_ns=60_000 * MS, restart=restart)


def partly(model: jobs.Job) -> jobs.Job:
    """Return the job with a source with a first subtask that ends long before the second one."""
    first, *others = model.vertices
    return replace(model, vertices=(replace(first, records=2, records_step=60), *others))


_SOURCE: dict[str, Any] = {"vertex": "source", "subtask": 0}
_BOTH: tuple[dict[str, Any], ...] = (_SOURCE, _SOURCE | {"subtask": 1})
_UNALIGNED = jobs.Mode.UNALIGNED
_CRASH = (job_faults.CrashTask(vertex="operator", subtask=1, at_ns=130 * MS),)
_REFUSED = (job_faults.RefuseTrigger(**_SOURCE, checkpoint=1),)
_SMALL = {"record_bytes": 20_000, "max_overdraft_buffers": 1, "exclusive_buffers": 1}

BROKEN: dict[str, Broken] = {
    "sends_again": Broken(
        breaks="every_record_is_somewhere",
        model=job(rate_per_s=500.0, network={"buffer_timeout_ns": 5 * MS}),
        patch=sends_again,
    ),
    "swapping": Broken(
        breaks="order_is_kept", model=job(), protocol=replace(OURS, input_channel=Swapping)
    ),
    "forgets_a_buffer": Broken(
        breaks="consistent_cut", model=job(_UNALIGNED), patch=forgets_a_buffer
    ),
    "grants_all": Broken(
        breaks="buffers_are_accounted_for", model=job(network=_SMALL), patch=grants_all
    ),
    "credits_twice": Broken(breaks="buffers_are_accounted_for", model=job(), patch=credits_twice),
    "stops_what_has_begun": Broken(
        breaks="sources_read_to_their_end",
        model=ending(job(rate_per_s=500.0)),
        faults=_CRASH,
        patch=broken_ends.stops_what_has_begun,
    ),
    "closes_in_front_of_a_barrier": Broken(
        breaks="closes_when_all_is_over",
        model=into_sink(ending(job(jobs.Mode.AT_LEAST_ONCE, rate_per_s=1000.0), records=4)),
        faults=(
            *(job_faults.DelayNotification(**one, checkpoint=1, delay_ns=60 * MS) for one in _BOTH),
            job_faults.DelayTrigger(**_BOTH[1], checkpoint=2, delay_ns=90 * MS),
        ),
        patch=broken_ends.closes_in_front_of_a_barrier,
    ),
    "keeps_completions_to_itself": Broken(
        breaks="notified_once",
        model=job(rate_per_s=300.0),
        patch=broken_ends.keeps_completions_to_itself,
    ),
    "never_restores": Broken(
        breaks="job_ends",
        model=replace(ending(job(rate_per_s=300.0)), recovery=jobs.Recovery(timed=True)),
        faults=_CRASH,
        patch=broken_ends.never_restores,
    ),
    "finished_tasks_say_nothing": Broken(
        breaks="end_marks_in_order",
        model=replace(partly(ending(job(rate_per_s=300.0))), recovery=jobs.Recovery(timed=True)),
        faults=_CRASH,
        patch=broken_ends.finished_tasks_say_nothing,
    ),
    "acknowledges_no_end": Broken(
        breaks="job_ends",
        model=ending(job(rate_per_s=300.0)),
        patch=broken_ends.acknowledges_no_end,
    ),
    "takes_the_stopped_for_exhausted": Broken(
        breaks="finished_flags_are_true",
        model=replace(job(rate_per_s=300.0), ending=Ending(stop_at_ns=130 * MS)),
        patch=broken_ends.takes_the_stopped_for_exhausted,
    ),
    "overhears_priority": Broken(
        breaks="unaligned_barriers_are_taken_next",
        model=job(_UNALIGNED, network={"segment_bytes": 32_768}),
        patch=overhears_priority,
    ),
    "forgetful": Broken(
        breaks="checkpoint_ids_increase",
        model=job(rate_per_s=300.0, max_concurrent=2),
        faults=(job_faults.DelayTrigger(**_SOURCE, checkpoint=1, delay_ns=54 * MS),),
        protocol=replace(OURS, subtask=Forgetful),
    ),
    "superseded_result_removed": Broken(
        breaks="channel_state_writes_are_answered",
        model=job(_UNALIGNED, timeout_ns=60 * MS),
        faults=(
            job_faults.SlowFile(**_SOURCE, checkpoint=1, delay_ns=900 * MS),
            job_faults.LoseNotification(**_SOURCE, checkpoint=1),
        ),
        protocol=mutant("superseded_result_removed"),
    ),
    "late_abort_closes_writer": Broken(
        breaks="channel_state_writes_are_answered",
        model=job(_UNALIGNED),
        faults=(
            *_REFUSED,
            job_faults.DelayNotification(
                vertex="operator", subtask=0, checkpoint=1, delay_ns=80 * MS
            ),
            job_faults.SlowFile(vertex="operator", subtask=0, checkpoint=2, delay_ns=100 * MS),
        ),
        protocol=mutant("late_abort_closes_writer"),
    ),
    "keeps_older": Broken(
        breaks="checkpoint_ids_increase",
        model=job(rate_per_s=300.0, max_concurrent=2),
        faults=(job_faults.DelayAcknowledgement(**_SOURCE, checkpoint=1, delay_ns=150 * MS),),
        protocol=replace(OURS, coordinator=NeverSubsumes),
    ),
    "told_before_stored": Broken(
        breaks="notified_once",
        model=job(rate_per_s=300.0),
        protocol=mutant("told_before_stored"),
    ),
    "loses_in_flight_data": Broken(
        breaks="restored_checkpoint_is_a_cut",
        model=ending(job(_UNALIGNED)),
        faults=_CRASH,
        patch=loses_in_flight_data,
    ),
    "deals_out_too_little": Broken(
        breaks="every_record_is_somewhere",
        model=ending(job(_UNALIGNED)),
        faults=(job_faults.Rescale(vertex="operator", parallelism=3, at_ns=130 * MS),),
        patch=deals_out_too_little,
    ),
    "restores_in_flight_data_twice": Broken(
        breaks="exactly_once_state",
        model=ending(job(_UNALIGNED)),
        faults=_CRASH,
        patch=restores_in_flight_data_twice,
    ),
    "restores_what_was_sent_first": Broken(
        breaks="order_is_kept",
        model=ending(job(_UNALIGNED, network={"record_bytes": 1500})),
        faults=_CRASH,
        patch=restores_what_was_sent_first,
    ),
    "forgets_a_position": Broken(
        breaks="at_least_once",
        model=ending(job(jobs.Mode.AT_LEAST_ONCE, rate_per_s=300.0)),
        faults=_CRASH,
        patch=forgets_half_of_what_was_processed,
    ),
    "forgets_a_record": Broken(
        breaks="exactly_once_output",
        model=into_sink(ending(job(rate_per_s=300.0))),
        patch=forgets_a_record,
    ),
    "forgets_a_record_that_may_repeat": Broken(
        breaks="at_least_once",
        model=into_sink(ending(job(jobs.Mode.AT_LEAST_ONCE, rate_per_s=300.0))),
        patch=forgets_a_record,
    ),
    "closes_without_final_checkpoint": Broken(
        breaks="aborted_transactions_are_empty_at_close",
        model=into_sink(ending(job(rate_per_s=300.0))),
        protocol=mutant("closes_without_final_checkpoint"),
    ),
    "closes_before_its_final_checkpoint": Broken(
        breaks="closes_when_all_is_over",
        model=ending(job(rate_per_s=300.0)),
        protocol=mutant("closes_without_final_checkpoint"),
    ),
    "looks_on_completion_only": Broken(
        breaks="closes_when_all_is_over",
        model=ending(job(_UNALIGNED)),
        protocol=mutant("looks_on_completion_only"),
    ),
    "closes_without_acknowledgement": Broken(
        breaks="finished_task_leaves_no_records",
        model=ending(job(_UNALIGNED)),
        protocol=mutant("closes_without_acknowledgement"),
    ),
    "ignores_restored_id": Broken(
        breaks="old_notifications_change_nothing",
        model=ending(job(rate_per_s=300.0)),
        faults=(
            replace(_CRASH[0], at_ns=60 * MS),
            job_faults.StrayNotification(
                vertex="operator", subtask=0, checkpoint=1, delay_ns=30 * MS
            ),
        ),
        protocol=mutant("ignores_restored_id"),
    ),
    "records_too_much": Broken(
        breaks="restore_is_closed_under_predecessors",
        model=ending(job(rate_per_s=300.0)),
        faults=(replace(_CRASH[0], at_ns=60 * MS),),  # after the first checkpoint
        patch=worlds.records_too_much,
    ),
    "persists_behind_the_barrier": Broken(
        breaks="consistent_cut",
        model=job(_UNALIGNED),
        faults=(job_faults.DelayTrigger(**_SOURCE, checkpoint=1, delay_ns=40 * MS),),
        protocol=replace(OURS, input_channel=PersistsBehindTheBarrier),
    ),
    "deals_out": Broken(
        breaks="records_take_their_channels",
        model=job(partitioner=jobs.Partitioner.GLOBAL),
        patch=deals_out,
    ),
    "counts_headers_twice": Broken(
        breaks="reported_figures_are_true", model=job(_UNALIGNED), patch=counts_headers_twice
    ),
    "frees_in_silence": Broken(
        breaks="buffers_are_accounted_for", model=job(), patch=frees_in_silence
    ),
    "keeps_credit": Broken(
        breaks="job_ends", model=job(duration_ns=5_000 * MS), patch=keeps_credit
    ),
}
