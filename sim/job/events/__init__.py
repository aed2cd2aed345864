"""The typed stream of control events of a job: hosts and planes emit, an oracle listens."""

from ckptsim.sim.job.events import of_job, of_tasks
from ckptsim.sim.job.events.stream import Event, Events, Hear, Listener, TaskEvent

__all__ = ["Event", "Events", "Hear", "Listener", "TaskEvent", "of_job", "of_tasks"]
