"""Columns of a channel: its sender's queue, the wire, and the receiver's end."""

(
    # Both ends.
    SENDER,
    RECEIVER,
    GATE,
    WRITER,
    LANE,  # where its writer writes; a broadcast has one lane for all
    LOCAL,
    RANK,
    HASH,
    RECORD_BYTES,
    # The sender's queue.
    HEAD,
    TAIL,
    PRIORITY_HEAD,
    PRIORITY_TAIL,
    DATA,
    EVENTS,
    BLOCKED,
    FINISHED,
    FLUSH,
    NEXT_SEQUENCE,
    OPEN_STATE,  # the timeoutable checkpoint whose output state is not known, or NONE
    TAKEN_BYTES,  # what has left of the first segment
    TAKEN_RECORDS,
    CREDIT,
    READY_NS,  # when the wire is free
    PUMP_ARMED,
    STARVED,
    KEEPS_ORDER,
    # The wire.
    STREAM,
    FORWARD_NS,
    BACK_NS,
    # The receiver.
    IN_HEAD,
    IN_TAIL,
    IN_PRIORITY_HEAD,
    IN_PRIORITY_TAIL,
    IN_DATA,
    IN_EVENTS,
    IN_SEQUENCE,
    ARRIVED,  # data elements so far
    LAST_BARRIER,
    LAST_SEQUENCE,
    CUT,
    STATUS,  # of the persister
    LAST_SEEN,
    EXCLUSIVE,
    EXCLUSIVE_FREE,
    FLOATING_FREE,
    REQUIRED,
    WAITING,
    RELEASED,
    ANNOUNCED,
    LISTED,
    NEXT_READY,
    NEXT_LENDER,
    PARTIAL_BYTES,
    RECORDS,
) = range(55)
WIDTH = 56

COMPLETED, BARRIER_PENDING, BARRIER_RECEIVED = range(3)
