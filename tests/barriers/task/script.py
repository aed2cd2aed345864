"""Random lives of a rig as plain data: a list of (verb, channel, span)."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from ckptsim.models.barriers.barrier import OptionKind
from ckptsim.models.barriers.handler import HandlerKind
from tests.barriers.task.rig import Rig

Step = tuple[str, int, int]

# Frequent verbs stand here several times. Rare ones end things, so they stay rare.
VERBS = (
    *("put",) * 5,
    *("barrier",) * 5,
    *("move",) * 8,
    *("take",) * 8,
    *("wait",) * 2,
    *("trigger",) * 2,
    "time_out_output",
    "cancel",
    "abort_output",
    "end",
)

KINDS = {
    HandlerKind.ALIGNED: (OptionKind.ALIGNED, OptionKind.SAVEPOINT),
    HandlerKind.ALTERNATING: (
        OptionKind.TIMEOUTABLE,
        OptionKind.UNALIGNED,
        OptionKind.TIMEOUTABLE,
        OptionKind.ALIGNED,
        OptionKind.SAVEPOINT,
    ),
    HandlerKind.UNALIGNED: (OptionKind.UNALIGNED, OptionKind.TIMEOUTABLE),
    HandlerKind.TRACKER: (OptionKind.AT_LEAST_ONCE,),
}

SCRIPTS = st.lists(
    st.tuples(st.sampled_from(VERBS), st.integers(0, 3), st.integers(0, 12)), max_size=90
)


def play(rig: Rig, script: Sequence[Step]) -> Rig:
    """Play a script on a rig, then let everything run out."""
    channels = len(rig.senders)
    rig.trigger(KINDS[rig.kind][0])
    for verb, number, span in script:
        channel = number % channels
        match verb:
            case "wait":
                rig.wait(span)
            case "trigger":
                kinds = KINDS[rig.kind]
                rig.trigger(kinds[span % len(kinds)])
            case _:
                getattr(rig, verb)(channel)
    rig.settle()
    return rig
