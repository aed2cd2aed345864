"""The classes of scenarios, to read and to write them as Python. Those for jobs have own names.

    from ckptsim import Scenario
    from ckptsim.model import Input, Job, Vertex

`sync`, `stores` and `pipelines` are modules with the classes of the other links. `job_faults` has
the faults of jobs.  Durations are whole nanoseconds and sizes bytes, as their names say.
"""

from ckptsim.scenarios import composed as pipelines
from ckptsim.scenarios import job as jobs
from ckptsim.scenarios import store as stores
from ckptsim.scenarios import sync
from ckptsim.scenarios.job import *  # noqa: F403 - the classes of jobs, under their names
from ckptsim.scenarios.job import faults as job_faults

__all__ = ["job_faults", "pipelines", "stores", "sync"]
__all__ += jobs.__all__
