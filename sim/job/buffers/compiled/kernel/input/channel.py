"""Both ends of a channel at work, as `input/remote_channel.py` and `input/local_channel.py`.

A remote channel sends while there is credit. A local one lets the receiver take from the sender's
queue.  The comments there hold here. The order of the work done is the same.
"""

from __future__ import annotations

from ckptsim.sim.job.buffers.compiled.columns import cell, channel, clock, entry, gate
from ckptsim.sim.job.buffers.compiled.jit import compiled
from ckptsim.sim.job.buffers.compiled.kernel.base.calendar import push_wire
from ckptsim.sim.job.buffers.compiled.kernel.base.counts import (
    counts_of,
    credited,
    element_sent,
    element_taken,
    empty_sent,
    log,
    overtaking_arrived,
    sender_resumed,
    slice_arrived,
    slice_sent,
)
from ckptsim.sim.job.buffers.compiled.kernel.base.lists import (
    line_append,
    line_first,
    new_cell,
    note,
)
from ckptsim.sim.job.buffers.compiled.kernel.base.memory import Memory
from ckptsim.sim.job.buffers.compiled.kernel.base.wire import due_forward
from ckptsim.sim.job.buffers.compiled.kernel.input.credits import (
    give_back,
    hear_backlog,
    return_floating,
)
from ckptsim.sim.job.buffers.compiled.kernel.output.pool import release
from ckptsim.sim.job.buffers.compiled.kernel.output.sizes import count_restored
from ckptsim.sim.job.buffers.compiled.kernel.output.subpartition import (
    available,
    backlog,
    drop_spent,
    head_of,
    is_open,
    take,
)
from ckptsim.sim.job.buffers.compiled.kernel.threads.thread import input_arrived, mailed

_NONE = clock.NONE


# At the sender ------------------------------------------------------------------------------------


@compiled
def pump(m: Memory, c: int) -> None:
    """Let what can travel do so, unless the queue is blocked."""
    if m[c + channel.LOCAL]:
        if available(m, c):
            enqueue_event(m, c)
    else:
        send_all(m, c)


@compiled
def send_all(m: Memory, c: int) -> None:
    """Send elements while there is something to send and credit for it."""
    now = m[clock.NOW]
    while not m[c + channel.BLOCKED]:
        head, ready = head_of(m, c), m[c + channel.READY_NS]
        is_data = head >= 0 and m[head + cell.WHAT] == cell.IN_SEGMENT
        if now < ready:
            if is_data or not m[c + channel.KEEPS_ORDER]:
                pump_later(m, c, head)
                return
            # An event that is next and cannot be overtaken needs no entry of its own for the
            # instant at which the wire is free: what happens then is known now.
        elif is_data and not m[c + channel.CREDIT]:
            m[c + channel.STARVED] = 1
            if not m[clock.EXCLUSIVE]:
                announce_backlog(m, c)
            return
        # The receiver has lent a buffer for what the backlog counted.  If that has left in the
        # meantime as a slice, the lent one is given back, or no other channel would get it.
        if is_data and not m[clock.EXCLUSIVE] and drop_spent(m, c):
            m[c + channel.CREDIT] -= 1
            m[c + channel.READY_NS] = now + m[clock.SEND_NS]
            due = due_forward(m, c, max(now, ready))
            if m[clock.FOLLOWED]:
                empty_sent(m, c)
            push_wire(m, c, due, entry.ARRIVE_EMPTY, backlog(m, c), 0)
            continue
        e = take(m, c)
        if e < 0:
            return
        if m[e + cell.WHAT] == cell.SLICE:
            m[c + channel.CREDIT] -= 1
            m[c + channel.READY_NS] = now + m[clock.SEND_NS]
            s = m[e + cell.SEGMENT]
            if s >= 0:
                m[e + cell.SEGMENT] = _NONE
                release(m, s)
        if m[clock.FOLLOWED]:
            element_sent(m, c, e)
        due = due_forward(m, c, max(now, ready))
        push_wire(m, c, due, entry.ARRIVE, e, backlog(m, c))


@compiled
def announce_backlog(m: Memory, c: int) -> None:
    """Tell the receiver that data waits without credit."""
    count = backlog(m, c)
    if count:
        due = due_forward(m, c, m[clock.NOW])
        push_wire(m, c, due, entry.HEAR_BACKLOG, count, 0)


@compiled
def pump_later(m: Memory, c: int, head: int) -> None:
    """Continue when the wire is free, if there is something that could leave then."""
    if m[c + channel.PUMP_ARMED] or head < 0:
        return
    if is_open(m, head) and not m[c + channel.FLUSH]:
        return
    m[c + channel.PUMP_ARMED] = 1
    push_wire(m, c, m[c + channel.READY_NS], entry.PUMP_AGAIN, 0, 0)


@compiled
def add_credit(m: Memory, c: int, count: int) -> None:
    """Take credit: what can be sent has been sent already, unless it waited for this."""
    if m[clock.FOLLOWED]:
        credited(m, c, count)
    waited = not m[c + channel.CREDIT]
    m[c + channel.CREDIT] += count
    if waited:
        send_all(m, c)


@compiled
def resumed(m: Memory, c: int) -> int:
    """Continue after a blocking event. Return REFUSED when there is none."""
    if m[clock.FOLLOWED]:
        sender_resumed(m, c)
    if not m[c + channel.LOCAL] and not m[clock.EXCLUSIVE]:
        m[c + channel.CREDIT] = 0  # the receiver has given back what it had lent
    if not m[c + channel.BLOCKED]:
        return clock.REFUSED
    m[c + channel.BLOCKED] = 0
    pump(m, c)
    return clock.WAITS


# At the receiver ----------------------------------------------------------------------------------


@compiled
def has_more(m: Memory, c: int) -> bool:
    """Return whether `take_in` would find something."""
    if m[c + channel.INSIDE]:
        return available(m, c)
    return m[c + channel.IN_DATA] > 0 or m[c + channel.IN_EVENTS] > 0


@compiled
def has_priority(m: Memory, c: int) -> bool:
    """Return whether something that overtakes data is queued."""
    if m[c + channel.INSIDE]:
        return m[c + channel.PRIORITY_HEAD] >= 0
    return m[c + channel.IN_PRIORITY_HEAD] >= 0


@compiled
def enqueue(m: Memory, c: int) -> None:
    """Note that a channel has something to read."""
    if not m[c + channel.LISTED]:
        m[c + channel.LISTED] = 1
        g = m[c + channel.GATE]
        if m[g + gate.READY_HEAD] < 0:
            m[g + gate.READY_NS] = m[clock.NOW]
        line_append(m, g + gate.READY_HEAD, c, channel.NEXT_READY)
        input_arrived(m, m[c + channel.RECEIVER], g)


@compiled
def enqueue_event(m: Memory, c: int) -> None:
    """Note that a channel may have an event. What overtakes data is a mail, which Python keeps."""
    if has_priority(m, c):
        note(m, clock.PRIORITY, c, 0, 0, 0)
        mailed(m, m[c + channel.RECEIVER])
    if has_more(m, c):
        enqueue(m, c)


@compiled
def barrier_arrived(m: Memory, c: int, checkpoint: int) -> bool:
    """Note a barrier. Return whether it ends the persisted data, as `Persister` says."""
    last = m[c + channel.LAST_SEEN]
    if checkpoint < last:
        return False
    if checkpoint == last and m[c + channel.STATUS] == channel.COMPLETED:
        return False
    m[c + channel.STATUS] = channel.BARRIER_RECEIVED
    m[c + channel.LAST_SEEN] = checkpoint
    return True


@compiled
def arrive(m: Memory, c: int, e: int, count: int) -> None:
    """Take an element from the network, with the backlog that the sender shows."""
    if m[e + cell.WHAT] == cell.SLICE:
        if m[c + channel.FLOATING_FREE]:
            m[c + channel.FLOATING_FREE] -= 1
            m[e + cell.FLOATING] = cell.LENT
        else:
            m[c + channel.EXCLUSIVE_FREE] -= 1
        if m[clock.FOLLOWED]:
            slice_arrived(m, c, m[e + cell.FLOATING])
        line_append(m, c + channel.IN_HEAD, e, cell.NEXT)
        m[c + channel.IN_SEQUENCE] += 1
        m[c + channel.ARRIVED] += 1
        m[c + channel.IN_DATA] += 1
        persist(m, c, e)
        hear_backlog(m, c, count)
        enqueue(m, c)
        return
    if not m[clock.EXCLUSIVE] and m[m[e + cell.EVENT] + cell.IS_BLOCKING]:
        give_back(m, c)
    event_arrives(m, c, e)
    hear_backlog(m, c, count)
    enqueue_event(m, c)


@compiled
def arrive_empty(m: Memory, c: int, count: int) -> None:
    """Take an empty buffer: its loan goes back."""
    if m[c + channel.FLOATING_FREE]:
        m[c + channel.FLOATING_FREE] -= 1
        return_floating(m, m[c + channel.GATE])
    hear_backlog(m, c, count)


@compiled
def add_recovered(m: Memory, c: int, size: int, records: int) -> int:
    """Queue a buffer that has been read from the state, before all that the sender sends.

    As `input/recovered_channel.py`: everything that has come from the network is none of it.
    """
    e = new_cell(m, cell.SLICE)
    m[e + cell.BYTES] = size
    m[e + cell.RECORDS] = records
    m[e + cell.FLOATING] = cell.RECOVERED
    if m[clock.FOLLOWED]:
        log(m, clock.SENT, c, e, size, records)
        slice_sent(m, counts_of(m, c), e)  # before anything that the sender sends
    line_append(m, c + channel.IN_HEAD, e, cell.NEXT)
    m[c + channel.IN_DATA] += 1
    count_restored(m, c, records)
    enqueue(m, c)
    return e


@compiled
def request_partition(m: Memory, c: int) -> None:
    """Let the queue of a sender travel, now that the receiver asks for it."""
    m[c + channel.BLOCKED] = 0
    pump(m, c)


@compiled
def persist(m: Memory, c: int, e: int) -> None:
    """Note that arrived data is state of a checkpoint without its barrier so far."""
    if m[c + channel.STATUS] == channel.BARRIER_PENDING:
        size, records = m[e + cell.BYTES], m[e + cell.RECORDS]
        note(m, clock.PERSIST_INPUT, c, m[c + channel.LAST_SEEN], size, records)


@compiled
def event_arrives(m: Memory, c: int, e: int) -> None:
    """Queue an event, as `RemoteChannel.arrive` of the model does."""
    event, sequence = m[e + cell.EVENT], m[c + channel.IN_SEQUENCE]
    m[e + cell.SEQUENCE] = sequence
    m[c + channel.IN_SEQUENCE] = sequence + 1
    m[c + channel.IN_EVENTS] += 1
    if not m[event + cell.IS_BARRIER]:
        line_append(m, c + channel.IN_HEAD, e, cell.NEXT)
        return
    if m[event + cell.IS_UNALIGNED]:
        if m[clock.FOLLOWED]:
            overtaking_arrived(m, c, event)
        line_append(m, c + channel.IN_PRIORITY_HEAD, e, cell.NEXT)
    else:
        line_append(m, c + channel.IN_HEAD, e, cell.NEXT)
        if m[event + cell.IS_TIMEOUTABLE]:
            told = new_cell(m, cell.ANNOUNCEMENT)
            m[told + cell.EVENT] = event
            m[told + cell.SEQUENCE] = sequence
            m[c + channel.IN_EVENTS] += 1
            line_append(m, c + channel.IN_PRIORITY_HEAD, told, cell.NEXT)
    # Noted on arrival, though the task may take the barrier much later: arrival cuts the data that
    # belongs to the checkpoint, taking only says when the task acts on it.
    checkpoint = m[event + cell.CHECKPOINT]
    accepted = barrier_arrived(m, c, checkpoint)
    if accepted and checkpoint > m[c + channel.LAST_BARRIER]:
        m[c + channel.LAST_BARRIER] = checkpoint
        m[c + channel.LAST_SEQUENCE] = sequence
        m[c + channel.CUT] = m[c + channel.ARRIVED]


@compiled
def take_in(m: Memory, c: int) -> int:
    """Take the next element for the task, NONE when there is none."""
    if not m[clock.FOLLOWED]:
        return take_unseen(m, c)
    priority = has_priority(m, c)
    e = take_unseen(m, c)
    if e < 0:
        return e
    if m[c + channel.INSIDE]:
        element_sent(m, c, e)
    element_taken(m, c, e, priority)
    return e


@compiled
def take_unseen(m: Memory, c: int) -> int:
    """Take the next element, as `take_in`."""
    if m[c + channel.INSIDE]:
        e = take(m, c)
        if e < 0:
            return _NONE
        if m[e + cell.WHAT] == cell.SLICE:
            persist(m, c, e)
        elif m[m[e + cell.EVENT] + cell.IS_BARRIER]:
            barrier_arrived(m, c, m[m[e + cell.EVENT] + cell.CHECKPOINT])
        return e
    if m[c + channel.IN_EVENTS] and m[c + channel.IN_PRIORITY_HEAD] >= 0:
        m[c + channel.IN_EVENTS] -= 1
        return line_first(m, c + channel.IN_PRIORITY_HEAD, cell.NEXT)
    if m[c + channel.IN_HEAD] < 0:
        return _NONE
    e = line_first(m, c + channel.IN_HEAD, cell.NEXT)
    if m[e + cell.WHAT] == cell.EVENT_CELL:
        m[c + channel.IN_EVENTS] -= 1
    else:
        m[c + channel.IN_DATA] -= 1
    return e
