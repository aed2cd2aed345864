"""Columns of a cell, in queues and on the way. Of a segment. Of an event."""

(
    NEXT,
    WHAT,
    SEGMENT,  # the owner of its memory, or NONE
    BYTES,
    RECORDS,
    FLOATING,  # the owner of its buffer at the receiver, below
    EVENT,
    SEQUENCE,  # of an event at the receiver
) = range(8)
WIDTH = 8

IN_SEGMENT, SLICE, EVENT_CELL, ANNOUNCEMENT = range(4)

# The buffer of a slice: the channel's own, one that the gate has lent, or one of a restore.
OWN, LENT, RECOVERED = range(3)

# Of a slice that the oracle counts: how many were sent before it, and what it was then.
NUMBER, SEAL = SEQUENCE, EVENT

# SEGMENT_HEAD: bytes at its start that end a record begun in the segment before. Where records are
# not of one size, how many were written before it was opened.
SEGMENT_WRITER, SEGMENT_LANE, SEGMENT_SIZE, SEGMENT_HEAD = range(4)
SEGMENT_BYTES, SEGMENT_RECORDS, CLOSED, OWNERS = range(4, 8)
SEGMENT_WIDTH = 8
SEGMENT_NEXT = SEGMENT_WRITER  # of a segment that is free

IS_BARRIER, CHECKPOINT, IS_UNALIGNED, IS_TIMEOUTABLE, IS_BLOCKING, ENDS_DATA = range(6)
EVENT_WIDTH = 8
