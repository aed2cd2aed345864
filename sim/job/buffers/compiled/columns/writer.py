"""Columns of a record writer with its pool and its route, and of a lane: one open buffer."""

(
    TASK,
    FIRST_CHANNEL,
    END_CHANNEL,
    FIRST_LANE,
    END_LANE,
    LANES,  # how many there are
    BROADCAST,
    RECORD_BYTES,  # the mean
    SEGMENT_BYTES,
    EMITTED,
    BLOCKED,  # the record under way lacks a buffer
    PENDING_LANE,
    PENDING_BYTES,  # of that record, still to be written
    TO_NEXT,  # records that may be processed before something happens
    # The pool.
    SIZE,
    FREE,
    OVERDRAFT,
    OVERDRAFT_MAX,
    OVERDRAFT_PEAK,
    REFUSED,  # a request was refused since the last return.
    FULL,  # lanes that hold their maximum.
    MOST,  # that maximum.
    HELD,  # where it is counted, lane by lane, each with the count of the oracle after it.
    # The route.
    ROUTE,
    NEXT,  # lane of the next record
    STREAM,
    WEIGHTS,  # where the bounds of its lanes begin
    # Everything that is drawn: picks from HEAD on, AHEAD of them counted in the fills, then maybe
    # the opener.
    PICKS,  # where the ring of lanes drawn ahead begins
    HEAD,
    DRAWN,
    AHEAD,
    OUT,  # records that may be emitted, the opener included
    # Selectivity in parts per million, NONE where each record gives one.
    PARTS,
    PROCESSED,
    OWED,
    # Of records that are not of one size: where it is counted, lane by lane, how many are written
    # or ahead, NONE where all are alike. Where the records of each channel that a restart has put
    # back are. How sizes are drawn.
    COUNTS,
    RESTORED,
    SIZES_KEY,
    FIXED_BYTES,
    VARYING_BYTES,  # mean of the varying part, the bits of a float
    # What the oracle counts: segments that are out, at most, and of one lane at most. How many of
    # them stand in queues, when someone asked last.
    SEGMENTS_OUT,
    MOST_OUT,
    MOST_OUT_OF_LANE,
    SEEN,
) = range(44)
WIDTH = 48

SINGLE, ROUND_ROBIN, UNIFORM, WEIGHTED = range(4)
RING = 256
"""Picks that are drawn ahead at most: speed only."""

# A lane without an open buffer has filled 0 of 0 bytes.
OPEN, FILL, LIMIT, CAPACITY = range(4)
LANE_WIDTH = 4
