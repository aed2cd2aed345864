"""What Python asks the kernel for, through its one door, and up to three numbers with it."""

(
    LOOP,  # carry out entries until Python has to act
    RUN,  # task: continue its thread
    MAILED,  # task
    SYNC,  # task
    ENTER,  # task, state
    PUSH_FLUSH,  # task, instant
    PUSH_RUN,  # task: let its thread begin at this instant
    PUMP_ALL,  # task
    PUMP,  # channel
    ADD_BARRIERS,  # writer, event
    BROADCAST,  # writer, event
    FINISH,  # task, event
    TIME_OUT,  # channel, checkpoint, event
    ABORT_OUTPUTS,  # task, checkpoint
    START_GATE,  # gate, checkpoint. 1 when a channel refuses
    STOP_GATE,  # gate, checkpoint
    TAKE_PRIORITY,  # channel. The cell, NONE if there is none
    RELEASE,  # channel
    RESUME,  # channel
    PRIORITIZE,  # channel, sequence. 1 when it does not stand there
    RESIZE,  # channel, bytes
    DUE_BACK,  # channel. The instant at which a message reaches the sender
    PUT_BACK,  # channel, bytes, records
    WRITTEN,  # channel. Bytes in its open buffer
    FREE_CELL,  # cell
    PLAN,  # writer
    ADD_RECOVERED,  # channel, bytes, records. The cell
    REQUEST_PARTITION,  # channel
    FEED,  # task, queued records, 1 when no more come
    LOOK,  # count queued records, in the columns of the oracle
    PASS_OVER,  # task, how many records count as done without having been
) = range(31)
