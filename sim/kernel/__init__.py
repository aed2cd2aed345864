"""The kernel: a SimPy environment made deterministic, explorable and accountable.

Nothing here knows the rest of the project: ties, streams, trace, fence and channels can be lifted
out by any user of SimPy.
"""

from sim.kernel.channel import Channel, Request
from sim.kernel.collector import uncollected
from sim.kernel.entity import KIND_ORDINARY, Entity
from sim.kernel.environment import Environment, run_until
from sim.kernel.errors import (
    ClockError,
    ConservationError,
    FenceBreached,
    KernelError,
    TraceError,
)
from sim.kernel.events import Event, Process, Timeout, Timer
from sim.kernel.explore import Exhaustive, Exploration
from sim.kernel.fence import fence
from sim.kernel.goals import Goals
from sim.kernel.liveness import settle
from sim.kernel.policies import parse_ties
from sim.kernel.streams import Stream, Streams
from sim.kernel.ties import (
    STRUCTURAL,
    Pct,
    SeededRandom,
    Structural,
    TiePolicy,
    derive_key,
)
from sim.kernel.trace import Entry, Field, Trace
from sim.kernel.waits import SimulationStalled, Wait, explain_waits

__all__ = [
    "KIND_ORDINARY",
    "STRUCTURAL",
    "Channel",
    "ClockError",
    "ConservationError",
    "Entity",
    "Entry",
    "Environment",
    "Event",
    "Exhaustive",
    "Exploration",
    "FenceBreached",
    "Field",
    "Goals",
    "KernelError",
    "Pct",
    "Process",
    "Request",
    "SeededRandom",
    "SimulationStalled",
    "Stream",
    "Streams",
    "Structural",
    "TiePolicy",
    "Timeout",
    "Timer",
    "Trace",
    "TraceError",
    "Wait",
    "derive_key",
    "explain_waits",
    "fence",
    "parse_ties",
    "run_until",
    "settle",
    "uncollected",
]
