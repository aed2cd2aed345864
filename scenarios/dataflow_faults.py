"""Faults that can befall a dataflow job at the level of buffers; a closed union of frozen data.

Most are those of jobs at the level of records, with the same keys; messages can be lost besides.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ckptsim.scenarios.errors import Problem
from ckptsim.scenarios.job_faults import (
    AtCheckpoint,
    DelayAcknowledgement,
    DelayNotification,
    DelayTrigger,
    FailChannelState,
    FailSnapshot,
    JobModel,
    LateAtCheckpoint,
    LoseNotification,
    StallTask,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LoseTrigger(AtCheckpoint):
    """The trigger of a checkpoint never reaches a subtask."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RefuseTrigger(AtCheckpoint):
    """A source subtask is not ready for the trigger of a checkpoint and declines it."""

    def problems_in(self, model: JobModel) -> list[Problem]:
        """Return what does not fit the job."""
        found = AtCheckpoint.problems_in(self, model)
        sources = [source.name for source in getattr(model, "sources", ())]
        if not found and self.vertex not in sources:
            found.append(Problem("vertex", f'"{self.vertex}"', "the name of a source"))
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class LoseAcknowledgement(AtCheckpoint):
    """A subtask's acknowledgement of a checkpoint never reaches the coordinator."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SlowFile(LateAtCheckpoint):
    """A subtask's files of a checkpoint are created late."""


DataflowFault = (
    FailSnapshot
    | FailChannelState
    | SlowFile
    | LoseTrigger
    | DelayTrigger
    | RefuseTrigger
    | LoseAcknowledgement
    | DelayAcknowledgement
    | LoseNotification
    | DelayNotification
    | StallTask
)

DATAFLOW_FAULTS: Mapping[str, type] = {
    "fail_snapshot": FailSnapshot,
    "fail_channel_state": FailChannelState,
    "slow_file": SlowFile,
    "lose_trigger": LoseTrigger,
    "delay_trigger": DelayTrigger,
    "refuse_trigger": RefuseTrigger,
    "lose_acknowledgement": LoseAcknowledgement,
    "delay_acknowledgement": DelayAcknowledgement,
    "lose_notification": LoseNotification,
    "delay_notification": DelayNotification,
    "stall_task": StallTask,
}
