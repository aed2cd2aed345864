"""Mechanisms of the model that can be left out, to see what each is worth.

Every one is real; switching one off gives a wrong model on purpose, for ablations only.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Mechanisms:
    """What the model does; all on by default.

    stops_early: a task stops when the pool has no free segment left or a channel its maximum, not
    only when a record finds none. freed_when_read: a receiver's buffer is free when its last record
    is read, not when processed. slices: a flush sends what an open buffer holds and lets the sender
    continue filling it, instead of closing it. random_keys: keys are drawn at random; otherwise the
    channels take turns. keys_stay: a second keyed edge of equal parallelism keeps a record on its
    subtask index. shared_cores: small jobs queue for the cores; otherwise each has a core of its
    own.
    """

    stops_early: bool = True
    freed_when_read: bool = True
    slices: bool = True
    random_keys: bool = True
    keys_stay: bool = True
    shared_cores: bool = True


MECHANISMS = Mechanisms()
