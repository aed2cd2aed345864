"""Whether a checkpoint is wanted because every task has reached the end of its data.

Without it a bounded job waits for the next periodic checkpoint.  One is asked for per attempt, when
the last task reports; a report is of drained data only, and a failed job starts to count again.

Source: Apache Flink 1.18, VertexEndOfDataListener and CheckpointCoordinator (FLINK-28386); not when
checkpoints are off (FLINK-32663); counted anew after a restart (FLINK-32945).
"""

from __future__ import annotations


class EndOfDataListener:
    """Counts the tasks that have reported the end of their data.

    tasks: how many there are.  enabled: a checkpoint may be asked for at all: checkpoints are
    taken, and the immediate final one is wanted.
    """

    def __init__(self, tasks: int, *, enabled: bool) -> None:
        self.enabled = enabled
        self._tasks = tasks
        self._reported: set[int] = set()

    def reported(self, task: int) -> bool:
        """Note a task's report; say whether a checkpoint is to be asked for now."""
        if task in self._reported:
            return False
        self._reported.add(task)
        return self.enabled and len(self._reported) == self._tasks

    def reset(self) -> None:
        """Forget all reports: the tasks have been deployed anew."""
        self._reported.clear()
