"""The world's own account of a job on buffers, and the properties that are checked against it.

`Account` takes note of nothing, for worlds of which nobody asks; `FullAccount` follows every buffer
and every checkpoint.  Neither changes what happens.
"""

from ckptsim.sim.job.buffers.account.full import FullAccount
from ckptsim.sim.job.buffers.account.silent import Account, Violation

__all__ = ["Account", "FullAccount", "Violation"]
