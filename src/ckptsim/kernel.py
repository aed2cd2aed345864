"""The kernel, for a SimPy model of yours: integer time, ties, streams, trace, fence, channels.

It knows nothing of checkpoints. `docs/kernel.md` has an example and says what each part gives.
"""

from ckptsim.sim.kernel import *  # noqa: F403 - this module is another name of that one
from ckptsim.sim.kernel import __all__ as __all__  # noqa: PLC0414
