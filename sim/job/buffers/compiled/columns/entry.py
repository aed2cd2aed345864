"""Columns of a calendar entry, and what entries do."""

(
    TIME,  # ns
    KEY,  # tie key, ordered as a signed number
    SEQUENCE,  # causal order inside one entity
    ACTION,
    TARGET,  # a task or a channel
    FIRST,
    SECOND,
) = range(7)
WIDTH = 8

(
    FIRE,  # a task's timer: it counts only if the task has this sequence.
    RETRY,  # a task inside a record asks for a buffer again.
    FLUSH,  # the output flusher of a task.
    ARRIVE,  # a cell reaches the receiver, with the sender's backlog.
    ARRIVE_EMPTY,  # a buffer without data that gives back everything that was lent for it.
    HEAR_BACKLOG,
    ADD_CREDIT,
    PUMP_AGAIN,  # the wire is free
    RESUMED,  # the sender may continue after a blocking event
    RESIZE,  # the next buffers are to be so large
) = range(10)

# Kinds of calendar entries, as in `kinds.py`: the smaller number happens first at one instant.
ARRIVAL = 16
CREDIT = 17
FLUSHER = 19
THREAD = 24

# The key of everything that is after all else of its instant, as `BEHIND` of
# `sim/kernel/calendar.py`.
BEHIND = (1 << 63) - 1
