"""The loop over the calendar, and the one door through which Python asks for anything."""

from __future__ import annotations

from ckptsim.sim.job.buffers.compiled.columns import (
    cell,
    channel,
    clock,
    entry,
    request,
    task,
    writer,
)
from ckptsim.sim.job.buffers.compiled.jit import compiled
from ckptsim.sim.job.buffers.compiled.kernel.base.calendar import (
    drop_first,
    push_flush,
    push_thread,
)
from ckptsim.sim.job.buffers.compiled.kernel.base.lists import (
    free_cell,
    line_append,
    new_cell,
    new_segment,
)
from ckptsim.sim.job.buffers.compiled.kernel.base.memory import Memory
from ckptsim.sim.job.buffers.compiled.kernel.base.wire import back, due_back
from ckptsim.sim.job.buffers.compiled.kernel.input.channel import (
    add_credit,
    add_recovered,
    arrive,
    arrive_empty,
    has_priority,
    pump,
    request_partition,
    resumed,
    send_all,
)
from ckptsim.sim.job.buffers.compiled.kernel.input.checkpoints import (
    abort_outputs,
    add_barriers,
    broadcast,
    finish,
    prioritize,
    pump_all,
    start_gate,
    stop_gate,
)
from ckptsim.sim.job.buffers.compiled.kernel.input.credits import give_back, hear_backlog
from ckptsim.sim.job.buffers.compiled.kernel.input.gate import take_priority
from ckptsim.sim.job.buffers.compiled.kernel.output.emission import retry
from ckptsim.sim.job.buffers.compiled.kernel.output.flush import flush
from ckptsim.sim.job.buffers.compiled.kernel.output.look import look
from ckptsim.sim.job.buffers.compiled.kernel.output.planning import plan, written
from ckptsim.sim.job.buffers.compiled.kernel.output.sizes import count_restored
from ckptsim.sim.job.buffers.compiled.kernel.output.subpartition import time_out
from ckptsim.sim.job.buffers.compiled.kernel.threads.operator import fire_operator, run_operator
from ckptsim.sim.job.buffers.compiled.kernel.threads.source import feed, fire_source, run_source
from ckptsim.sim.job.buffers.compiled.kernel.threads.thread import enter, mailed, pass_over, sync
from ckptsim.sim.kernel.environment import SEQUENCES

_OWN_MEMORY = 1 << 40


@compiled
def run_thread(m: Memory, t: int) -> int:
    """Continue the thread of a task."""
    return run_source(m, t) if m[t + task.IS_SOURCE] else run_operator(m, t)


@compiled
def fire(m: Memory, t: int) -> int:
    """Let the timer of a task's thread fire."""
    m[t + task.TIMER] = 0
    return fire_source(m, t) if m[t + task.IS_SOURCE] else fire_operator(m, t)


@compiled
def retry_all(m: Memory, t: int) -> int:
    """Let a thread that is inside a record ask for buffers again."""
    if m[t + task.STATE] != task.STUCK:
        return clock.WAITS
    first, stuck = m[t + task.FIRST_WRITER], False
    for w in range(first, m[t + task.END_WRITER], writer.WIDTH):
        if m[w + writer.BLOCKED]:
            retry(m, w)
            stuck = stuck or m[w + writer.BLOCKED] != 0
    return clock.WAITS if stuck else run_thread(m, t)


@compiled
def resize(m: Memory, c: int, size: int) -> None:
    """Let the buffers that a sender is still to open for a channel be smaller or larger."""
    w = m[c + channel.WRITER]
    sync(m, m[w + writer.TASK])
    size = max(1, min(size, m[w + writer.SEGMENT_BYTES]))
    m[m[c + channel.LANE] + writer.CAPACITY] = size


@compiled
def carry_out(m: Memory, action: int, target: int, first: int, second: int) -> int:
    """Carry out one entry."""
    if action == entry.FIRE:
        return fire(m, target)
    if action == entry.RETRY:
        return retry_all(m, target)
    if action == entry.RESUMED:
        return resumed(m, target)
    if action == entry.ARRIVE:
        arrive(m, target, first, second)
    elif action == entry.ADD_CREDIT:
        add_credit(m, target, first)
    elif action == entry.PUMP_AGAIN:
        m[target + channel.PUMP_ARMED] = 0
        send_all(m, target)
    elif action == entry.ARRIVE_EMPTY:
        arrive_empty(m, target, first)
    elif action == entry.HEAR_BACKLOG:
        hear_backlog(m, target, first)
    elif action == entry.FLUSH:
        flush(m, target)
    else:
        resize(m, target, first)
    return clock.WAITS


@compiled
def loop(m: Memory) -> int:
    """Carry out entries up to Python's next one, or until Python has to act."""
    margin, last = m[clock.MARGIN], m[clock.SEQUENCE] + SEQUENCES
    while True:
        # Room and sequences are looked at once per entry. None takes more than the margin.
        if m[clock.FREE_CELLS] < margin or m[clock.HEAP_SIZE] + margin > m[clock.HEAP_ROWS]:
            return clock.ROOM
        if m[clock.LOG_SIZE] + m[clock.LOG_MARGIN] > m[clock.LOG_ROWS]:
            return clock.LOGGED
        if m[clock.SEQUENCE] + margin > last:
            return clock.LOGGED
        if not m[clock.HEAP_SIZE] or not is_next(m):
            return clock.LIMIT
        row = m[clock.HEAP]
        time, sequence = m[row + entry.TIME], m[row + entry.SEQUENCE]
        action, target = m[row + entry.ACTION], m[row + entry.TARGET]
        first, second = m[row + entry.FIRST], m[row + entry.SECOND]
        drop_first(m)
        if action == entry.FIRE and m[target + task.TIMER] != sequence:
            continue  # the timer was cancelled or armed anew
        m[clock.NOW] = time
        m[clock.STEPS] += 1
        code = carry_out(m, action, target, first, second)
        if code:
            return code
        if m[clock.LOG_URGENT]:
            return clock.LOGGED


@compiled
def is_next(m: Memory) -> bool:
    """Return whether the kernel's first entry comes before Python's."""
    row = m[clock.HEAP]
    if m[row + entry.TIME] != m[clock.LIMIT_NS]:
        return m[row + entry.TIME] < m[clock.LIMIT_NS]
    if m[row + entry.KEY] != m[clock.LIMIT_KEY]:
        return m[row + entry.KEY] < m[clock.LIMIT_KEY]
    return m[row + entry.SEQUENCE] < m[clock.LIMIT_SEQUENCE]


@compiled
def put_back(m: Memory, c: int, size: int, records: int) -> None:
    """Put restored data after a queue, in memory that is not the pool's."""
    s = new_segment(m, m[c + channel.WRITER], m[c + channel.LANE], size, 0)
    m[s + cell.SEGMENT_BYTES] = size
    m[s + cell.SEGMENT_RECORDS] = records
    m[s + cell.CLOSED] = 1
    m[s + cell.OWNERS] = _OWN_MEMORY
    e = new_cell(m, cell.IN_SEGMENT)
    m[e + cell.SEGMENT] = s
    line_append(m, c + channel.HEAD, e, cell.NEXT)
    m[c + channel.DATA] += 1
    count_restored(m, c, records)
    # All of it may leave: no writer continues with the last one.
    m[c + channel.FLUSH] = 1


@compiled
def ask_task(m: Memory, what: int, t: int, first: int, second: int) -> int:
    """Serve the requests to a task."""
    if what == request.RUN:
        return run_thread(m, t)
    if what == request.MAILED:
        mailed(m, t)
    elif what == request.SYNC:
        sync(m, t)
    elif what == request.ENTER:
        enter(m, t, first)
    elif what == request.PUSH_FLUSH:
        push_flush(m, t, first)
    elif what == request.PUSH_RUN:
        m[t + task.TIMER] = push_thread(m, t, m[clock.NOW], entry.FIRE)
    elif what == request.PUMP_ALL:
        pump_all(m, t)
    elif what == request.FINISH:
        finish(m, t, first)
    elif what == request.FEED:
        feed(m, t, first, second)
    elif what == request.ABORT_OUTPUTS:
        abort_outputs(m, t, first)
    elif what == request.PASS_OVER:
        pass_over(m, t, first)
    return 0


@compiled
def ask_sender(m: Memory, what: int, c: int, first: int, second: int) -> int:
    """Serve the requests to the sender's end of a channel."""
    if what == request.PUMP:
        pump(m, c)
    elif what == request.TIME_OUT:
        if time_out(m, c, first, second):
            pump(m, c)
    elif what == request.PUT_BACK:
        put_back(m, c, first, second)
    elif what == request.WRITTEN:
        return written(m, m[c + channel.WRITER], m[c + channel.LANE])
    elif what == request.REQUEST_PARTITION:
        request_partition(m, c)
    return 0


@compiled
def ask_receiver(m: Memory, what: int, c: int, first: int, second: int) -> int:
    """Serve the requests to the receiver's end of a channel."""
    if what == request.TAKE_PRIORITY:
        return take_priority(m, c) if has_priority(m, c) else clock.NONE
    if what == request.RELEASE:
        m[c + channel.RELEASED] = 1  # first, or it would be offered what it gives back
        give_back(m, c)
    elif what == request.RESUME:
        back(m, c, entry.RESUMED, 0)
    elif what == request.PRIORITIZE:
        return 0 if prioritize(m, c, first) else 1
    elif what == request.RESIZE:
        back(m, c, entry.RESIZE, first)
    elif what == request.DUE_BACK:
        return due_back(m, c)
    elif what == request.ADD_RECOVERED:
        return add_recovered(m, c, first, second)
    return 0


@compiled
def ask(m: Memory, what: int, one: int, first: int, second: int) -> int:
    """Do what Python asks for. See `columns/request.py`."""
    if what == request.LOOP:
        return loop(m)
    if what == request.ADD_BARRIERS:
        add_barriers(m, one, first)
    elif what == request.BROADCAST:
        broadcast(m, one, first)
    elif what == request.START_GATE:
        return 0 if start_gate(m, one, first) else 1
    elif what == request.STOP_GATE:
        stop_gate(m, one, first)
    elif what == request.FREE_CELL:
        free_cell(m, one)
    elif what == request.PLAN:
        plan(m, one)
    elif what == request.LOOK:
        look(m)
    elif what in (
        request.PUMP,
        request.TIME_OUT,
        request.PUT_BACK,
        request.WRITTEN,
        request.REQUEST_PARTITION,
    ):
        return ask_sender(m, what, one, first, second)
    elif what in (
        request.TAKE_PRIORITY,
        request.RELEASE,
        request.RESUME,
        request.PRIORITIZE,
        request.RESIZE,
        request.DUE_BACK,
        request.ADD_RECOVERED,
    ):
        return ask_receiver(m, what, one, first, second)
    else:
        return ask_task(m, what, one, first, second)
    return 0
