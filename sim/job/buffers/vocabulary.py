"""How the trace entries of a job on buffers read."""

from __future__ import annotations

from ckptsim.sim.job.vocabulary import CONTROL
from ckptsim.sim.story import Telling, Vocabulary

VOCABULARY: Vocabulary = {
    **CONTROL,
    "barrier": Telling(
        says="takes the barrier of checkpoint {index} from channel {channel} ({kind})",
        fields="index channel kind",
    ),
    "announced": Telling(
        says="hears that the barrier of checkpoint {index} stands in channel {channel}",
        fields="index channel",
    ),
    "cancelled": Telling(
        says="hears from channel {channel} that no barrier of checkpoint {index} comes",
        fields="index channel",
    ),
    "sent_barrier": Telling(
        says="sends the barrier of checkpoint {index}, {overtaken} buffers overtaken",
        fields="index overtaken",
    ),
    "snapshot": Telling(
        says="takes its snapshot of checkpoint {index} after {records} records",
        fields="index records start_delay_ns unaligned",
        begins="upload:index,here",
    ),
    "aligned": Telling(
        says="has aligned checkpoint {index} in {duration_ns} ns, {bytes} bytes meanwhile",
        fields="index duration_ns bytes",
    ),
    "acknowledged": Telling(
        says="has acknowledged checkpoint {index}: {persisted} bytes in flight, {state} of state",
        fields="index persisted state",
        ends="upload:index,here",
    ),
    "completed": Telling(
        says="completes checkpoint {index} after {duration_ns} ns",
        fields="index duration_ns",
        ends="checkpoint:index",
    ),
}
