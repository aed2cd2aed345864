"""A child process that writes batches and checkpoints until it is killed.

Arguments: how ("colocated", "data_first", "checkpoint_first") and a folder.  After each durable
checkpoint it prints the position that it acknowledges.  The log is implied: the record at position
p puts name `k<p mod NAMES>` to the text of p.
"""

from __future__ import annotations

import sys
from pathlib import Path

from models.store import (
    Area,
    PartitionState,
    Placement,
    PlainCodec,
    RowsWrite,
    Slot,
    SlotWrite,
    Step,
    TopicPartition,
    decode_state,
    encode_state,
)
from sim.store.real import real_medium

KEY = TopicPartition("s_v1", 0)
NAMES = 5000
BATCH = 200
HOW = ("colocated", "data_first", "checkpoint_first")


def placement_of(how: str) -> Placement:
    """Return the placement of a way of writing."""
    return Placement.COLOCATED if how == "colocated" else Placement.EXTERNAL


def checkpoint_of(stored: bytes | None) -> int:
    """Return the position that stored bytes claim; -1 without any."""
    state = None if stored is None else decode_state(PlainCodec().decode(KEY, stored))
    return -1 if state is None else state.position


def main(how: str, folder: str) -> None:
    """Write until somebody stops this process."""
    medium = real_medium(placement_of(how), Path(folder))
    position = checkpoint_of(medium.slot(Slot.CUSTOM, KEY))
    while True:
        batch = range(position + 1, position + 1 + BATCH)
        changes = {f"k{each % NAMES}": str(each).encode() for each in batch}
        position = batch[-1]
        blob = encode_state(PartitionState(position=position))
        rows = (RowsWrite(area=Area.DATA, key=KEY, changes=changes),)
        slots = (SlotWrite(slot=Slot.CUSTOM, key=KEY, stored=PlainCodec().encode(KEY, blob)),)
        steps = {
            "colocated": (Step(rows=rows, slots=slots),),
            "data_first": (Step(rows=rows), Step(slots=slots)),
            "checkpoint_first": (Step(slots=slots), Step(rows=rows)),
        }
        for step in steps[how]:
            medium.commit(step)
        print(position, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
