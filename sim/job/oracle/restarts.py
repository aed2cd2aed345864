"""What must hold of failures and restarts: when they are known, their cause and their origin.

Source: Apache Flink 1.20.3, ExecutionFailureHandler (the strategy is asked of each failure that may
be recovered from) and AdaptiveScheduler.Executing (a rescale asks no one, and waits for nothing).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ckptsim.scenarios.dialect import duration_text, exact_text, listed
from ckptsim.scenarios.job import Rescaling
from ckptsim.scenarios.job.faults import Cancel, Rescale, Resubmit
from ckptsim.sim.job.events import Listener

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ckptsim.scenarios.job import Job
    from ckptsim.sim.job.control.checkpoint import JobCheckpoint
    from ckptsim.sim.job.events import of_job
    from ckptsim.sim.job.oracle.view import Violate
    from ckptsim.sim.kernel import Environment

_CAUSE = "restarts_have_a_cause"
_NEWEST = "restarts_begin_from_the_newest"
_KNOWN = "losses_are_known_in_time"
_NOTHING = -1  # in the place of a number: the job began without a checkpoint


class RestartOracle(Listener):
    """What the user and the restart strategy have said of one job, and the lost part of it.

    A loss in silence is known once its time is over, counted from the latest heartbeat, which came
    within the interval before it.
    A stop that has failed is asked for again.  Assumption: its user does so when the longest
    restart, and two checkpoints, may be over.
    """

    def __init__(self, job: Job, env: Environment, violate: Violate) -> None:
        self._may_refuse = job.channel_state.rescaling is not Rescaling.ALLOWED
        self._env = env
        self._violate = violate
        self._is_wanted = self._is_given_up = False
        self._from_ns = 0  # no restart before it
        self._lost: int | None = None  # a task manager with a known loss, and the job not told
        self._asked: Rescale | Resubmit | None = None  # everything that is not restarted for so far
        self._changes: Rescale | Resubmit | None = None  # from the next attempt on
        self._heartbeat = job.recovery.heartbeat
        self._unknown: dict[int, tuple[int, int]] = {}  # -> the earliest and latest ns to know it
        self._stop_again_ns = job.restart.longest_delay_ns + 2 * job.checkpointing.interval_ns
        self._stop_failed_ns: int | None = None

    def look(self) -> None:
        """Check that no loss has been unknown for too long, and that no stop is forgotten."""
        for manager, (_, latest_ns) in self._unknown.items():
            if latest_ns < self._env.now:
                says = f"the loss of task manager {manager} is still unknown "
                self._violate(_KNOWN, f"{says}after {duration_text(latest_ns)}")
        failed_ns = self._stop_failed_ns
        if failed_ns is not None and self._env.now - failed_ns > self._stop_again_ns:
            says = f"a stop that failed at {duration_text(failed_ns)} is not asked for again"
            self._violate("given_up_for_a_cause", says)
            self._stop_failed_ns = None

    # The user ---------------------------------------------------------------------------------

    def asked(self, event: of_job.ChangeAsked) -> None:
        """Expect a restart for a change."""
        is_over = event.is_over or isinstance(event.change, Cancel)
        self._asked = None if is_over else event.change  # type: ignore[assignment]

    def done(self, event: of_job.ChangeDone) -> None:
        """Check that there was one, unless in-flight data may forbid the change."""
        asked, self._asked = self._asked, None
        if asked is not None and not (self._may_refuse and asked.vertex):
            self._violate(_CAUSE, f"the user asks in vain to {_change(asked)}")

    def restart_asked(self, event: of_job.RestartAsked) -> None:
        """Expect that no one is asked of the restart that follows, and that it waits for none."""
        self._is_wanted, self._from_ns = True, 0
        self._asked, self._changes = None, self._asked or self._changes

    def restart_begun(self, event: of_job.RestartBegun) -> None:
        """Expect failures again."""
        self._is_wanted = False

    def stop_asked(self, event: of_job.StopAsked) -> None:
        """Check that a stop is asked for again in time, if it has failed before."""
        self.look()
        self._stop_failed_ns = None

    def stop_refused(self, event: of_job.StopRefused) -> None:
        """Expect that it is asked for again."""
        self._stop_failed_ns = self._env.now

    def checkpoint_failed(self, event: of_job.CheckpointFailed) -> None:
        """Expect the same where the savepoint of a stop has failed."""
        if event.record.request.synchronous:
            self._stop_failed_ns = self._env.now

    # Failures ---------------------------------------------------------------------------------

    def manager_lost(self, event: of_job.ManagerLost) -> None:
        """Expect that a loss is known in time."""
        rules, now_ns = self._heartbeat, self._env.now
        threshold = rules.rpc_failure_threshold if event.unreachable else None
        refused_ns = rules.timeout_ns if threshold is None else threshold * rules.interval_ns
        latest_ns = now_ns + min(rules.timeout_ns, refused_ns)
        self._unknown[event.manager] = (latest_ns - rules.interval_ns + 1, latest_ns)

    def loss_known(self, event: of_job.ManagerLossKnown) -> None:
        """Check that a loss is known in time, and once. The job is to hear of it first of all."""
        bounds = self._unknown.pop(event.manager, None)
        if bounds is None:
            says = f"the loss of task manager {event.manager} is known again, or behind a restart"
            self._violate(_KNOWN, says)
        elif not bounds[0] <= self._env.now <= bounds[1]:
            says = f"the loss of task manager {event.manager} is not known "
            says += f"between {duration_text(bounds[0])} and {duration_text(bounds[1])}"
            self._violate(_KNOWN, says)
        self._lost = event.manager

    def job_manager_lost(self, event: of_job.JobManagerLost) -> None:
        """Expect nothing more of lost changes: a new job manager never knew it."""
        self._unknown.clear()

    def failure_noticed(self, event: of_job.FailureNoticed) -> None:
        """Expect no failure for the loss that is known any more."""
        self._lost = None

    def decided(self, event: of_job.RestartDecided) -> None:
        """Check that the strategy is asked of failures alone."""
        self._from_ns = self._env.now + (event.delay_ns or 0)
        if self._is_wanted and event.recoverable:
            says = "the restart strategy is asked of a restart that the user wants"
            self._violate(_CAUSE, says)

    def given_up(self, event: of_job.JobGivenUp) -> None:
        """Expect no attempt any more."""
        self._is_given_up = True

    # Attempts ---------------------------------------------------------------------------------

    def halted(self, event: of_job.AttemptHalted) -> None:
        """Check that nothing of the attempt that is over is left to fail the next one."""
        self._check_loss()

    def _check_loss(self) -> None:
        """Check that the job has heard of the loss that is known.

        Source: Apache Flink 1.20.3, Execution.cancel: an execution on a task manager that is not
        known to be lost is over only when its loss is known, which fails it.
        """
        if self._lost is not None:
            says = f"an attempt is over before the loss of task manager {self._lost} has failed it"
            self._violate(_CAUSE, says)

    def deploying(self, event: of_job.AttemptDeploying) -> None:
        """Check that an attempt may begin: tasks on a lost task manager are cancelled by then."""
        if self._unknown:
            managers = listed(self._unknown)
            self._violate(_KNOWN, f"the job restarts while the loss of {managers} is unknown")
        self._check_loss()
        if self._is_given_up:
            self._violate(_CAUSE, "tasks are deployed of a job that has failed for good")
        elif self._env.now < self._from_ns:
            says = "tasks are deployed, which the restart strategy lets happen at "
            self._violate(_CAUSE, says + duration_text(self._from_ns))

    def begun(self, job: Job) -> None:
        """Check that an attempt begins with what the user has changed last."""
        asked, self._changes = self._changes, None
        now = {one.name: one.parallelism for one in job.vertices}
        if asked is not None and asked.vertex and now[asked.vertex] != asked.parallelism:
            says = f"{asked.vertex} has {now[asked.vertex]} subtasks, though the user wants to "
            self._violate(_CAUSE, f"{says}{_change(asked)}")


def _change(asked: Rescale | Resubmit) -> str:
    if not asked.vertex:
        return "submit the job again"
    return f"rescale {asked.vertex} to {asked.parallelism}"


class Origins(Listener):
    """The checkpoints of one job, and what its attempts have to begin from.

    A failure goes back to the newest checkpoint that is no savepoint, or after it to what the job
    was started from.  A savepoint is started from only by the user, who has it from the attempt
    that runs: what came after the ones of earlier attempts was undone.  Where tasks take
    checkpoints by themselves, the newest line of them is looked for, which is the attempt's
    beginning at least.
    Source: Apache Flink 1.20.3, DefaultCompletedCheckpointStoreUtils (savepoints are not restored
    from since FLINK-10354's revert, FLIP-193 and FLIP-203).
    """

    def __init__(self, env: Environment, violate: Violate) -> None:
        self._env = env
        self._violate = violate
        self._discarded_ns: dict[int, int] = {}
        self._has_begun = False
        self._started_from = _NOTHING  # by the user
        self._newest = _NOTHING  # complete, and no savepoint
        self._savepoint = _NOTHING  # the newest of the attempt that runs
        self._positions: Mapping[int, int] = {}  # where the splits of uncoordinated jobs began

    def completed(self, event: of_job.CheckpointCompleted) -> None:
        """Note a checkpoint that is complete."""
        if event.kept is None:
            return
        number = event.kept.checkpoint_id
        if event.kept.savepoint:
            self._savepoint = max(self._savepoint, number)
        else:
            self._newest = max(self._newest, number)

    def discarded(self, event: of_job.CheckpointDiscarded) -> None:
        """Note when a checkpoint is discarded, for the story of a restart that lacks it."""
        self._discarded_ns[event.checkpoint] = self._env.now

    def _why(self) -> str:
        """Say what became of the checkpoint that is due, and of a savepoint after it."""
        says = ""
        if self._due in self._discarded_ns:
            says = f", which was discarded at {exact_text(self._discarded_ns[self._due])}"
        if self._savepoint > self._due:
            says += f"; no failure goes back to savepoint {self._savepoint}"
            if self._savepoint in self._discarded_ns:
                at = exact_text(self._discarded_ns[self._savepoint])
                says += f", which was discarded at {at}"
        return says

    def submitted(self, event: of_job.JobSubmitted) -> None:
        """Expect that the user starts the job again from the newest of what there is."""
        self._started_from = max(self._due, self._savepoint)

    def begun(self, restored: JobCheckpoint | None) -> None:
        """Check what the next attempt begins from. The first may begin from anything."""
        number = _NOTHING if restored is None else restored.checkpoint_id
        if not self._has_begun:
            self._has_begun, self._started_from = True, number
        elif number != self._due:
            says = f"an attempt begins from {_called(number)}, and not from {_called(self._due)}"
            self._violate(_NEWEST, says + self._why())
        self._savepoint = _NOTHING

    def begun_on_a_line(self, restored: JobCheckpoint | None) -> None:
        """Check that an attempt without barriers begins no later than the one before."""
        positions: Mapping[int, int] = {} if restored is None else restored.positions
        for split, count in self._positions.items():
            if positions.get(split, 0) < count:
                says = f"an attempt begins at place {positions.get(split, 0)} of split {split}, "
                self._violate(_NEWEST, f"{says}where the one before it began at {count}")
        self._positions = positions

    def log_service_cut(self, event: of_job.LogServiceCut) -> None:
        """Check that a log service still has what a failure would go back to."""
        if event.oldest > self._due:
            says = f"a log service keeps what is in flight from checkpoint {event.oldest} on, and a"
            says += f" failure goes back to {_called(self._due)}"
            self._violate("logs_keep_what_is_needed", says)

    @property
    def _due(self) -> int:
        return max(self._started_from, self._newest)


def _called(number: int) -> str:
    return "nothing" if number == _NOTHING else f"checkpoint {number}"


class Rescales:
    """Everything that has been rescaled of one job.

    any: whether something was. any_before: whether something was before this attempt.
    vertices: the ones of them that have inputs, and all after these, as the keys.
    """

    def __init__(self) -> None:
        self.any = self.any_before = False
        self.vertices: dict[str, None] = {}

    def begun(self, job: Job, restored: JobCheckpoint | None) -> None:
        """Note what differs between an attempt's vertices and the ones of what it restores."""
        self.any_before = self.any
        if restored is None:
            return
        before = {name: len(numbers) for name, numbers in restored.subtasks.items()}
        self.any |= before != {vertex.name: vertex.parallelism for vertex in job.vertices}
        readers = [vertex for vertex in job.vertices if vertex.inputs]
        found = [one.name for one in readers if before.get(one.name) != one.parallelism]
        for name in found:  # grows while it is looked through
            behind = [one.name for one in readers if name in {put.upstream for put in one.inputs}]
            found += [one for one in behind if one not in found]
        self.vertices |= dict.fromkeys(found)
