"""Columns of a task: its thread, and of a source its clock. Of a split, where there are several."""

(
    STATE,
    SINCE_NS,
    PROCESSED,
    STEP_NS,
    CELL,  # the buffer being read, NONE, or RETURNED when its memory is free already.
    CHANNEL,  # of that buffer.
    LEFT,  # how many of its records are unread.
    START_NS,  # of the records under way.
    COUNT,  # how many these are.
    TIMER,  # sequence of the calendar entry that counts, 0 for none.
    UNSEEN,  # that entry is after all else of its instant.
    MAIL,  # how many mails there are.
    PAUSED,  # a pause has begun and is not over.
    IS_SOURCE,
    FIRST_GATE,
    GATES,
    FIRST_WRITER,
    END_WRITER,
    FIRST_OUTPUT,  # its outgoing channels
    END_OUTPUT,
    RANK,  # its place among ties, and what the policy draws for it
    DRAWN,
    TURN_HEAD,  # gates that have something to read
    TURN_TAIL,
    TWO_INPUT,
    READING,  # index of the input that a task with two inputs chose last.
    AVAILABLE,  # a bit for each of its inputs that may have something.
    GOES_ON,  # it takes the next element from the same input.
    CHOSEN_NS,  # when an input was chosen last.
    TAKEN_BYTES,  # since the alignment clock was told.
    GAP_NS,  # time between two records of a source, NONE for as fast as possible.
    DUE_NS,
    SPLIT,  # the owner of the clock, where a source has several
    FIRST_SPLIT,
    END_SPLIT,
    LIMIT,  # records of a bounded source, NONE for no bound
    EXHAUSTED,
    TOLD_TO_STOP,
    CATCH_UP_NS,
    FED,  # a source reads what a reader has queued, or without a split nothing.
    QUEUED,  # how much that is.
    READ_OUT,  # nothing is queued and nothing comes any more.
    STREAM,  # of a varying service, NONE for a steady one.
    FIXED_NS,
    LONGEST_NS,
    MEAN,  # of the varying part in ns, the bits of a float
    SUSPECT_NS,  # the oracle learns of each buffer that is taken later, NONE: of every one
    TIMES,  # ns per state, from here on
) = range(48)
WIDTH = 56

SPLIT_GAP_NS, SPLIT_DUE_NS, POSITION, MOST = range(4)  # DUE_NS without a rate: turns that it had
SPLIT_WIDTH = 4

RETURNED = -2

# States, as in `kinds.py`.
IDLE, BUSY, BLOCKED, STUCK, WAKING, PACED, PAUSING, ENDED, RESTORING = range(9)
STATES = 9
