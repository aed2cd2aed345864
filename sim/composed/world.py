"""The world of a composed pipeline: the world of a sync into a job with a store.

One kernel, one trace, one account.  Attempts follow each other as the platform orders: each begins
with the source at the last state that the platform holds, with the job at its latest completed
checkpoint, and with the sinks at what the store says.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

from ckptsim.models.store import Placement
from ckptsim.scenarios.composed import GOALS, PROPERTIES, ComposedFault, Pipeline
from ckptsim.scenarios.job import Mode
from ckptsim.scenarios.job.graph.planes import Plane
from ckptsim.sim.composed.destination import PipelineDestination
from ckptsim.sim.composed.destination.committer import Committer
from ckptsim.sim.composed.destination.destination import PipelineAttempt
from ckptsim.sim.composed.destination.job import PipelineJob
from ckptsim.sim.composed.faults import StoreFaults, job_faults, sync_faults
from ckptsim.sim.composed.ledger import Ledger
from ckptsim.sim.composed.store import Store, row_name
from ckptsim.sim.job.control.faults import FaultPlan
from ckptsim.sim.job.control.sinks.sink import SinkWriter
from ckptsim.sim.job.oracle.records import differences
from ckptsim.sim.kernel import explain_waits
from ckptsim.sim.slots import ProtocolCores
from ckptsim.sim.sync.attempt import waits
from ckptsim.sim.sync.oracle.oracle import OrderingProperties
from ckptsim.sim.sync.world import SyncWorld

if TYPE_CHECKING:
    from ckptsim.sim.run_spec import RunSpec
    from ckptsim.sim.sync.attempt import Attempt
    from ckptsim.sim.sync.intervals import Intervals


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineCores(ProtocolCores):
    """One factory per slot of a pipeline."""

    committer: type[Committer] = Committer
    sink: type[SinkWriter] = SinkWriter
    destination: type[PipelineDestination] = PipelineDestination


class PipelineProperties(OrderingProperties):
    """The properties of the sync, of the job and of the store."""

    names = PROPERTIES

    def on_run_ended(self) -> None:
        """Check the whole run. The lost part is counted, also where the loss was noticed before."""
        cast("PipelineWorld", self._world).job.plane.end_run()
        if self._world.succeeded:
            check_end(cast("PipelineWorld", self._world))
        super().on_run_ended()

    def lost(self, says: str) -> None:
        """Say at the end how much was lost."""
        for place, row in enumerate(self.violations):
            if row.property == "no_record_lost":
                self.violations[place] = replace(row, says=says)
                return
        self.violate("no_record_lost", says)


class PipelineWorld(SyncWorld):
    """One run. `beginning` is the attempt that is being made or runs."""

    attempt: PipelineAttempt | None
    beginning: PipelineAttempt
    job: PipelineJob

    def __init__(self, spec: RunSpec) -> None:
        self.pipeline = cast("Pipeline", spec.scenario.model)
        self.cores = cast("PipelineCores", spec.cores)
        plan = cast("tuple[ComposedFault, ...]", spec.scenario.faults)
        scenario = replace(spec.scenario, model=self.pipeline.sync(), faults=sync_faults(plan))
        super().__init__(replace(spec, scenario=scenario))
        self.spec = spec
        if self.pipeline.plane is Plane.BUFFERS:
            self.env.count_entries()
        for name in GOALS:
            self.env.goals.counts.setdefault(name, 0)
        self.properties: PipelineProperties = PipelineProperties(self)
        placement = Placement[self.pipeline.store.placement.name]
        client = self.cores.store(placement).client
        self.store = Store(
            self.env, self.pipeline, StoreFaults(plan, self.faults.note_strike), client
        )
        self.ledger = Ledger(self)
        self._job_faults = FaultPlan(job_faults(plan))
        self._deployed = False

    def note(self, name: str, says: str) -> None:
        """Note that a property does not hold."""
        self.properties.violate(name, says)

    def make_attempt(self, base: tuple[Intervals, ...]) -> PipelineAttempt:
        """Let happen what happens to the store between attempts, then make the next one."""
        number = len(self.truth.attempts) + 1
        if number > 1:
            self.store.medium.crash()
        self.ledger.attempt_over()
        if self.store.begin_attempt(number):
            self.ledger.resync()
        self.ledger.take_positions()
        return PipelineAttempt(self, base)

    def deploy_job(self, attempt: PipelineAttempt) -> PipelineJob:
        """Make the tasks of the job for an attempt."""
        self.beginning = attempt
        if self._deployed:
            self.job.next_attempt()
            self.ledger.check_store(self.job.restored)
        else:
            self._deployed = True
            self.job = PipelineJob(self, self._job_faults)
        return self.job

    def attempt_ended(self, attempt: Attempt, reason: str | None) -> None:
        """Stop the job with its attempt."""
        self.job.control.interrupt(reason or "the end")
        super().attempt_ended(attempt, reason)

    def note_signs(self) -> None:
        """Have the job tell of records that are done by now."""
        self.job.plane.catch_up()

    def explain(self) -> str:
        """Say who waits for whom, in the sync and in the job."""
        if self.attempt is None:
            return ""
        return explain_waits([*waits(self.attempt), *self.job.open_waits()])


def check_end(world: PipelineWorld) -> None:
    """Compare the store and the state of the stages with the records of the source.

    An at-least-once job owes no more than every record in the store.  Its state is owed nothing: a
    record that a sink commits with a checkpoint may be in no state of that checkpoint, and once its
    state was returned no one sends it again.
    """
    expected = Counter(world.ledger.all_records())
    exactly = world.pipeline.checkpointing.mode is not Mode.AT_LEAST_ONCE
    found = world.store.durable()
    _note_missing(world, expected, found)
    if exactly and found - expected:
        extra = found - expected
        name = row_name(min(extra))
        says = f"{sum(extra.values())} rows too many in the store, such as of record {name}"
        world.note("exactly_once_output", says)
    job = world.job
    job.control.sinks.check_end(())
    for vertex in world.pipeline.vertices:
        # What a finished subtask held is not part of a checkpoint. Nothing asks for it any more.
        if vertex.name in job.plane.lost_state:
            continue
        says_state = (
            differences(expected, Counter(job.records_of(vertex.name))) if exactly else None
        )
        if says_state is not None:
            world.note("exactly_once_state", f"state of {vertex.name}: {says_state}")


def _note_missing(world: PipelineWorld, expected: Counter[int], found: Counter[int]) -> None:
    missing = expected - found
    if missing:
        says = (
            f"the run completed, but {sum(missing.values())} of {sum(expected.values())} records "
            f"are not in the store, such as {row_name(min(missing))}"
        )
        world.properties.lost(says)
