"""Columns of a channel: its sender's queue, the wire, and the receiver's end.

Eight words are a line of the processor's cache, and a large job has more channels than the cache
has room for.  So the used part together lies together, and each eight of them say for what.
"""

(
    # The sender looks whether there is something to send.
    HEAD,  # each head of a list has its tail after it
    TAIL,
    DATA,
    EVENTS,
    FLUSH,
    LANE,  # where its writer writes. A broadcast has one lane for all
    TAKEN_BYTES,  # everything that has left of the first segment
    TAKEN_RECORDS,
    # It sends.
    PRIORITY_HEAD,
    PRIORITY_TAIL,
    LOCAL,
    BLOCKED,  # by what, below
    FINISHED,
    CREDIT,
    READY_NS,  # when the wire is free
    WRITER,
    # What does not change, and what its receiver is owed.
    RECEIVER,
    GATE,
    RANK,  # its place among ties, and what the policy draws for it
    DRAWN,
    RECORD_BYTES,  # 0 where not all are of one size
    WAITING,  # in the gate's line for a floating buffer
    NEXT_LENDER,
    PARTIAL_BYTES,
    # The receiver takes the arrivals.
    IN_HEAD,
    IN_TAIL,
    IN_DATA,
    IN_EVENTS,
    LISTED,
    NEXT_READY,
    INSIDE,  # as LOCAL, for the receiver. Not while it has recovered data to read
    FLOATING_FREE,
    # It counts, and gives credit.
    EXCLUSIVE_FREE,
    REQUIRED,
    ANNOUNCED,
    RELEASED,
    IN_SEQUENCE,
    ARRIVED,  # data elements so far
    RECORDS,
    STATUS,  # of the persister
    # The wire.
    STREAM,  # state and increment, as `stream.py` has them
    _STATE_LOW,
    _STEP_HIGH,
    _STEP_LOW,
    FORWARD_NS,
    BACK_NS,
    PUMP_ARMED,
    KEEPS_ORDER,
    # Rare columns from here on.
    LAST_SEEN,
    CUT,
    STARVED,
    OPEN_STATE,  # the timeoutable checkpoint with an open output state, or NONE
    IN_PRIORITY_HEAD,
    IN_PRIORITY_TAIL,
    LAST_BARRIER,
    LAST_SEQUENCE,
) = range(56)
WIDTH = 56

# What lets nothing leave: an event, until the receiver resumes the channel. Or that the receiver,
# which restores, has not asked for its partition yet.
BY_EVENT, NOT_REQUESTED = 1, 2

COMPLETED, BARRIER_PENDING, BARRIER_RECEIVED = range(3)
