"""The kernel: a SimPy environment made deterministic, explorable and accountable.

Nothing here knows the rest of the project: ties, streams, trace, fence and channels can be lifted
out by any user of SimPy.
"""

from ckptsim.sim.kernel.calendar import Timer
from ckptsim.sim.kernel.channel import Channel, Request
from ckptsim.sim.kernel.entity import (
    KIND_ORDINARY,
    ClockError,
    ConservationError,
    Entity,
    FenceBreached,
    KernelError,
    TooManyStepsError,
    TraceError,
)
from ckptsim.sim.kernel.environment import Environment, garbage_collector_paused, run_until
from ckptsim.sim.kernel.events import Event, Process, Signal, Timeout
from ckptsim.sim.kernel.fence import fence, unfenced
from ckptsim.sim.kernel.liveness import SimulationStalled, Wait, explain_waits, settle
from ckptsim.sim.kernel.streams import Stream, Streams
from ckptsim.sim.kernel.ties import (
    STRUCTURAL,
    Exhaustive,
    Exploration,
    Noting,
    Pct,
    SeededRandom,
    Structural,
    TiePolicy,
    derive_key,
    parse_ties,
)
from ckptsim.sim.kernel.trace import Entry, Field, Goals, Trace

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
    "Noting",
    "Pct",
    "Process",
    "Request",
    "SeededRandom",
    "Signal",
    "SimulationStalled",
    "Stream",
    "Streams",
    "Structural",
    "TiePolicy",
    "Timeout",
    "Timer",
    "TooManyStepsError",
    "Trace",
    "TraceError",
    "Wait",
    "derive_key",
    "explain_waits",
    "fence",
    "garbage_collector_paused",
    "parse_ties",
    "run_until",
    "settle",
    "unfenced",
]
