"""Columns of what the oracle has counted of a channel, apart from what the channel counts itself.

Its counts of a gate stand in the gate's row, the ones of a pool in the row of its writer.
"""

(
    FLAGS,
    SENT,  # data elements that have left the sender
    SENT_BYTES,
    TAKEN,  # by the task
    TAKEN_BYTES,
    ALLOWED,  # slices that the receiver has given credit for and that were not sent
    FILLED,  # exclusive buffers that hold data
    QUEUED_BYTES,  # at the sender, when someone asked last
) = range(8)
WIDTH = 8

# Flags: the sender is blocked. Its data has ended. It is to send what a checkpoint had in flight.
# The receiver may read nothing. Its end of partition was taken.
STOPPED, ENDED, RESTORED, HELD, OVER = 1, 2, 4, 8, 16

# Faults in the credit or the buffers of a channel.
NO_CREDIT, NO_CREDIT_EMPTY, NOT_LENT, NOT_FREE, FREED_TWICE = range(5)
