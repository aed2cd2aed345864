"""How the trace of a job reads."""

from __future__ import annotations

from ckptsim.sim.job.vocabulary import CONTROL
from ckptsim.sim.story import Telling, Vocabulary

VOCABULARY: Vocabulary = {
    **CONTROL,
    "performed": Telling("takes its snapshot of checkpoint {index}", "index"),
    "acknowledged": Telling("has acknowledged checkpoint {index}", "index persisted state"),
    "completed": Telling(
        "completes checkpoint {index}", "index duration_ns", ends="checkpoint:index"
    ),
    "skipped": Telling("skips the trigger of checkpoint {index}: it comes too late", "index"),
    "ignored": Telling(
        "ignores the completion of checkpoint {index}: it is behind {newer}", "index newer"
    ),
    "end_of_data_acknowledged": Telling("has its EndOfData acknowledged by {receiver}", "receiver"),
    "took": Telling(
        "takes its own checkpoint {number}, index {index}; forced by a message: {forced}",
        "number index forced",
    ),
    "checkpoint_stored": Telling("has stored its checkpoint {number}", "number"),
    "snapshot_failed": Telling("could not store its checkpoint {number}", "number"),
    "rolled_back": Telling("goes back behind its checkpoint {number}", "number"),
    "output": Telling("committed output of {sink} has digest {digest}", "sink digest"),
}
