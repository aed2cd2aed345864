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
    TIES_RANDOM,  # 0: structural ties
    TIES_KEY,  # of the keyed hash, 64 bits
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
) = range(29)
WIDTH = 32

NONE = -1
"""No element, no entry of a list."""

# What the kernel stops for.
(
    WAITS,  # nothing is left to do: of a task, that its thread waits or serves
    LIMIT,  # Python's calendar is next
    EVENT,  # a task has taken an event from a channel
    MAIL,  # a task has come to its mailbox
    EXHAUSTED,  # a source has no more records
    LOGGED,  # Python has to read the log now
    ROOM,  # tables have to grow
) = range(7)

# What the log tells, each with a channel, a checkpoint and what is below.
(
    PERSIST_INPUT,  # bytes and records of a buffer
    PERSIST_OUTPUT,  # the same; the first of a barrier's effects
    OUTPUT_OPENED,
    OUTPUT_KNOWN,  # number of buffers, which follow as OUTPUT_BUFFER
    OUTPUT_BUFFER,
    OUTPUT_FAILED,
    PRIORITY,  # a channel has something that overtakes data
) = range(7)
LOG_WIDTH = 5
