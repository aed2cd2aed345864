"""Columns of the one row that belongs to all: the clock, free lists, constants, and what is asked.

The kernel hands over to Python by returning a code (`HANDOVER`); task, channel, cell say of what.
"""

(
    NOW,  # ns
    SEQUENCE,  # of the next calendar entry
    STEPS,  # entries carried out
    HEAP,  # where the heap begins
    HEAP_ROWS,
    HEAP_SIZE,
    FREE_CELL,  # first of the free cells, NONE when all are in use
    FREE_CELLS,  # how many are free
    FREE_SEGMENT,
    FREE_SEGMENTS,
    LOG,
    LOG_ROWS,
    LOG_SIZE,
    LOG_URGENT,  # the log has something that Python has to hear before the next entry
    TIES,  # the policy, below
    TIES_KEY,  # of the keyed hash, 64 bits
    CHANGES,  # where the change instants of `pct` begin, with their numbers, the latest first
    END_CHANGES,
    LATENCY_NS,
    JITTER_NS,
    SEND_NS,
    WAKE_NS,
    FLUSH_PERIOD_NS,
    TASK,
    CHANNEL,
    CELL,
    LIMIT_NS,  # the calendar entry of Python's that comes next: time, key and sequence
    LIMIT_KEY,
    LIMIT_SEQUENCE,
    EXCLUSIVE,  # buffers that a channel has of its own
    MARGIN,  # cells, segments and heap entries that one entry may need at most
    LOG_MARGIN,  # rows of the log that one entry may need at most
    FOLLOWED,  # an oracle follows the buffers: the log tells of each
    RECORDED,  # somebody follows the records, see below: the log tells of each stretch
    LEAST_FREE,  # mechanisms, as in `mechanisms.py`: segments that a pool needs for a record
    FREED_WHEN_READ,
    SLICES,
) = range(37)
WIDTH = 40

NONE = -1
"""No element, no entry of a list."""

STRUCTURAL, RANDOM, PCT = range(3)

# What the kernel stops for.
(
    WAITS,  # nothing is left to do: of a task, that its thread waits or serves
    LIMIT,  # Python's calendar is next
    EVENT,  # a task has taken an event from a channel
    MAIL,  # a task has come to its mailbox
    EXHAUSTED,  # a source has no more records
    LOGGED,  # Python has to read the log now
    ROOM,  # tables have to grow
    REFUSED,  # a channel is resumed that nothing blocks
    TOLD,  # Python has to read the log before the task continues
) = range(9)

# What the log tells, each with a channel, a checkpoint, what is below, and the instant.
(
    PERSIST_INPUT,  # bytes and records of a buffer
    PERSIST_OUTPUT,  # the same; the first of a barrier's effects
    OUTPUT_OPENED,
    OUTPUT_KNOWN,  # number of buffers, which follow as OUTPUT_BUFFER
    OUTPUT_BUFFER,
    OUTPUT_FAILED,
    PRIORITY,  # a channel has something that overtakes data
    RECOVERED_FREED,  # a buffer of recovered data has been read
) = range(8)

# Where somebody follows the records: of a stretch that is done.  Who knows records by their
# identities hears of it at once.
BY_STRETCHES, AT_ONCE = 1, 2
(
    EMITTED,  # by a source: task, how many, when the first one was due, ns between two
    PROCESSED,  # of a channel: how many, when the last one was done, ns of each
) = range(8, 10)

# What it tells besides where an oracle follows the buffers: of a channel, with a cell or an event
# in the place of the checkpoint; of a pool, with a lane in that of the channel.
(
    SENT,  # data has left the sender: cell, bytes, records
    SENT_EMPTY,
    SENT_EVENT,  # event
    CREDITED,  # how many
    RESUMED,
    ARRIVED,  # data is at the receiver: whether it fills a floating buffer
    OVERTAKING_ARRIVED,  # an unaligned barrier is: event
    FREED,  # a buffer of the receiver: whether it is a floating one
    TAKEN,  # by the task: cell, bytes, records
    TAKEN_EVENT,  # event; whether it overtakes data
    GIVEN,  # a segment of a pool
    RETURNED,
) = range(10, 22)
FIRST_FOLLOWED = SENT
LOG_WIDTH = 6
