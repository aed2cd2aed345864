"""Child processes that write batches and checkpoints until they are killed.

`python -m tests.store.real.writer` imports everything once and then reads lines `HOW COMMITTED
FOLDER`.  For each it forks a writer, says `child PID`, and when that is dead `ended CODE`.  A
writer prints after each durable checkpoint the position that it acknowledges. For a group the line
is the commit, and anyone who reads it keeps the offset.  The log is implied: the record at position
p puts name `k<p mod NAMES>` to the text of p.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from ckptsim.models import store
from ckptsim.sim.store.real import real_medium

KEY = store.TopicPartition("s_v1", 0)
NAMES = 5000
BATCH = 200
HOW = ("colocated", "data_first", "checkpoint_first", "group")


def placement_of(how: str) -> store.Placement:
    """Return the placement of a way of writing."""
    if how == "group":
        return store.Placement.CONSUMER_GROUP_BLOB
    return store.Placement.COLOCATED if how == "colocated" else store.Placement.EXTERNAL


def checkpoint_of(stored: bytes | None) -> int:
    """Return the position that stored bytes claim. -1 without any."""
    state = None if stored is None else store.decode_state(store.PlainCodec().decode(KEY, stored))
    return -1 if state is None else state.position


def say(what: object) -> None:
    """Print one line in one write, which a kill cannot split (print may take two)."""
    os.write(sys.stdout.fileno(), f"{what}\n".encode())


def write(how: str, folder: str, committed: int) -> None:
    """Write until someone kills this process.

    how: one of HOW. committed: what the group has, where that is the placement.
    """
    medium = real_medium(placement_of(how), Path(folder))
    position = checkpoint_of(medium.slot(store.Slot.CUSTOM, KEY)) if how != "group" else committed
    while True:
        batch = range(position + 1, position + 1 + BATCH)
        changes = {f"k{each % NAMES}": str(each).encode() for each in batch}
        position = batch[-1]
        blob = store.encode_state(store.PartitionState(position=position))
        rows = (store.RowsWrite(area=store.Area.DATA, key=KEY, changes=changes),)
        slots = (
            store.SlotWrite(
                slot=store.Slot.CUSTOM, key=KEY, stored=store.PlainCodec().encode(KEY, blob)
            ),
        )
        steps = {
            "colocated": (store.Step(rows=rows, slots=slots),),
            "data_first": (store.Step(rows=rows), store.Step(slots=slots)),
            "checkpoint_first": (store.Step(slots=slots), store.Step(rows=rows)),
            "group": (store.Step(rows=rows),),
        }
        for step in steps[how]:
            medium.commit(step)
        say(position)


def main() -> None:
    """Fork a writer per line of the input, with all loaded that a first use loads."""
    with tempfile.TemporaryDirectory() as folder:
        for how in HOW:
            medium = real_medium(placement_of(how), Path(folder, how))
            row = store.RowsWrite(area=store.Area.DATA, key=KEY, changes={"k": b"v"})
            medium.commit(store.Step(rows=(row,)))
            medium.close()
    for line in sys.stdin:
        how, committed, folder = line.rstrip("\n").split(" ", 2)
        child = os.fork()
        if child == 0:
            write(how, folder, int(committed))
        say(f"child {child}")
        _, status = os.waitpid(child, 0)
        say(f"ended {os.waitstatus_to_exitcode(status)}")


if __name__ == "__main__":
    main()
