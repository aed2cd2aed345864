"""Who follows a job, apart from what its cores believe: null observers, and the oracle.

Hosts of `sim/job/control` and the data planes tell an observer once what happens.  Null observers
take note of nothing. The oracle checks the properties of jobs.  Properties of checkpoints, tasks,
channels, ends and output stand here once and hold on both data planes. What only one plane has, as
record identities or credits, is in files of its own.
"""
