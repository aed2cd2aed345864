"""Columns of an input gate."""

(
    TASK,
    INDEX,  # among the gates of the task
    FIRST_INPUT,  # where the list of its channels begins
    END_INPUT,
    READY_HEAD,  # channels that have something to read
    READY_TAIL,
    LISTED,  # whether the task's line has this gate
    NEXT_TURN,
    FLOATING_FREE,
    LEND_HEAD,  # channels that wait for a floating buffer
    LEND_TAIL,
    TAKEN_BYTES,  # since the debloater looked last
    ASIDE_CELL,  # a buffer that was read in part and set aside
    ASIDE_CHANNEL,
    ASIDE_LEFT,
    ASIDE_STEP_NS,
    READY_NS,  # since when there has been something to read, if there is
    FLOATING,  # how many floating buffers there are
    FILLED,  # how many of them hold data, by the oracle's count
) = range(19)
WIDTH = 24
