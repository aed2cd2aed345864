"""The subtask side of a checkpoint: one task, from the trigger to the acknowledgement."""

from ckptsim.models.barriers.subtask.checkpoints import SubtaskCheckpoints as SubtaskCheckpoints
