"""The typed stream of control events of a job: hosts and planes emit, an oracle listens."""

from ckptsim.sim.job.events import of_job as of_job
from ckptsim.sim.job.events import of_tasks as of_tasks
from ckptsim.sim.job.events import of_time as of_time
from ckptsim.sim.job.events.stream import Event as Event
from ckptsim.sim.job.events.stream import Events as Events
from ckptsim.sim.job.events.stream import Hear as Hear
from ckptsim.sim.job.events.stream import Listener as Listener
from ckptsim.sim.job.events.stream import TaskEvent as TaskEvent
