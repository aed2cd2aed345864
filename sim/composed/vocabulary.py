"""How the trace of a composed pipeline reads: as the one of a sync, of a job and of a store."""

from __future__ import annotations

from dataclasses import replace

from ckptsim.sim.job.vocabulary import BUFFERS, RECORDS
from ckptsim.sim.story import Telling, Vocabulary
from ckptsim.sim.sync.vocabulary import VOCABULARY as SYNC

_STORE: Vocabulary = {
    "commit": Telling("begins commit {number}", "number", begins="commit:number"),
    "step": Telling("has made {part} of commit {number} durable", "number part"),
    "refused_commit": Telling("refuses commit {number}: {reason}", "number reason", always=True),
}

# Checkpoints of the job and states of the source count from 1 each: a scope distinguish them. What
# both planes have in their traces reads as on records, where no span is opened that the entry of
# the other plane would have to close.
_JOB: Vocabulary = {
    kind: replace(telling, scope="job", begins="" if kind == "snapshot" else telling.begins)
    for kind, telling in {**BUFFERS, **RECORDS}.items()
}

# A sync shows of its sends and states by the same words as alone. "violated" is the same in both.
VOCABULARY: Vocabulary = {**_JOB, **SYNC, **_STORE}
