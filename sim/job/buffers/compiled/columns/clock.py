"""Columns of the one row that belongs to all.

The clock, free lists, constants, and all that is asked.

The kernel hands over to Python by returning a code (`HANDOVER`). Task, channel, cell say of what.
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
    LOG_URGENT,  # the log has something that Python has to hear before the next entry.
    TIES,  # the policy, below.
    TIES_KEY,  # of the keyed hash, 64 bits.
    CHANGES,  # where the change instants of `pct` begin, with their numbers, the latest first.
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
    EXCLUSIVE,  # buffers that a channel has of its own.
    MARGIN,  # cells, segments and heap entries that one entry may need at most.
    LOG_MARGIN,  # rows of the log that one entry may need at most.
    FOLLOWED,  # an oracle counts the buffers, see below.
    COUNTS,  # where its counts of the channels begin.
    FIRST_TASK,
    END_TASK,
    FIRST_CHANNEL,
    END_CHANNEL,
    FIRST_WRITER,
    END_WRITER,
    RECORDED,  # someone follows the records, see below: the log shows of each stretch
    LEAST_FREE,  # mechanisms of the rig: segments that a pool needs for a record
    FREED_WHEN_READ,
    SLICES,
) = range(44)
WIDTH = 48

NONE = -1
"""No element, no entry of a list."""

STRUCTURAL, RANDOM, PCT = range(3)

# What the kernel stops for.
(
    WAITS,  # nothing is left to do: of a task, that its thread waits or serves.
    LIMIT,  # Python's calendar is next.
    EVENT,  # a task has taken an event from a channel.
    MAIL,  # a task has come to its mailbox.
    EXHAUSTED,  # a source has no more records.
    LOGGED,  # Python has to read the log now.
    ROOM,  # tables have to grow.
    REFUSED,  # a channel is resumed that nothing blocks.
    TOLD,  # Python has to read the log before the task continues.
) = range(9)

# What the log shows, each with a channel, a checkpoint, the content below, and the instant.
(
    PERSIST_INPUT,  # bytes and records of a buffer
    PERSIST_OUTPUT,  # the same. The first of a barrier's effects
    OUTPUT_OPENED,
    OUTPUT_KNOWN,  # number of buffers, which follow as OUTPUT_BUFFER
    OUTPUT_BUFFER,
    OUTPUT_FAILED,
    PRIORITY,  # a channel has something that overtakes data
    RECOVERED_FREED,  # a buffer of recovered data has been read
) = range(8)

# Where someone follows the records: of a stretch that is done.  Who knows records by their
# identities learns of it at once.
BY_STRETCHES, AT_ONCE = 1, 2
(
    EMITTED,  # by a source: task, how many, when the first one was due, ns between two
    PROCESSED,  # of a channel: how many, when the last one was done, ns of each
) = range(8, 10)

# Where an oracle counts the buffers: how events move, and everything that is or may be wrong with
# data.
# `EVERY`: a journal is kept besides, and the log shows of each buffer.
COUNTED, EVERY = 1, 2
(
    SENT_EVENT,  # event
    TAKEN_EVENT,  # event. Whether it overtakes data
    OVERTAKING_ARRIVED,  # an unaligned barrier is at the receiver: event. How long it was busy
    RESUMED,
    SENT_SUSPECT,  # data by a channel with a flag: bytes, records in the last columns
    TAKEN_SUSPECT,  # data when the task may have to do something else first
    OUT_OF_TURN,  # data that is not the sent data next: bytes
    CREDIT_WRONG,  # what, as in `counts.py`
    POOL_WRONG,  # of a writer: 1 for too many, with how many are out, and of one lane. 0: too few
) = range(10, 19)
FIRST_FOLLOWED = SENT_EVENT

# For a journal. Of a pool with a lane in the place of the channel.
(
    SENT,  # data has left the sender: cell, bytes, records
    SENT_EMPTY,
    CREDITED,  # how many
    ARRIVED,  # data is at the receiver: whether it fills a floating buffer
    FREED,  # a buffer of the receiver: whether it is a floating one
    TAKEN,  # by the task: cell, bytes, records
    GIVEN,  # a segment of a pool
    RETURNED,
) = range(19, 27)
FIRST_JOURNALED = SENT
LOG_WIDTH = 6
