"""A task's thread as seen from outside: what wakes it, shortens what it does, or counts it.

Nothing in here continues the thread: it is woken by an entry of the calendar, so no function of
the kernel calls itself through another one.
"""

from __future__ import annotations

from ckptsim.sim.job.buffers.compiled.columns import clock, entry, gate, task, writer
from ckptsim.sim.job.buffers.compiled.jit import compiled
from ckptsim.sim.job.buffers.compiled.kernel.base.calendar import push, push_thread
from ckptsim.sim.job.buffers.compiled.kernel.base.lists import line_append, note
from ckptsim.sim.job.buffers.compiled.kernel.base.memory import Memory
from ckptsim.sim.job.buffers.compiled.kernel.output.planning import skip, translate


@compiled
def enter(m: Memory, t: int, state: int) -> None:
    """Change what a thread does, and account for the time since the last change."""
    now = m[clock.NOW]
    m[t + task.TIMES + m[t + task.STATE]] += now - m[t + task.SINCE_NS]
    m[t + task.SINCE_NS] = now
    m[t + task.STATE] = state


@compiled
def arm(m: Memory, t: int, time: int) -> None:
    """Let a task's timer fire at an instant. An earlier arming is forgotten."""
    m[t + task.TIMER] = push_thread(m, t, time, entry.FIRE)
    m[t + task.UNSEEN] = 0


@compiled
def arm_behind(m: Memory, t: int, time: int) -> None:
    """Let the timer fire after all else that happens at an instant.

    That is for the end of a block from which nothing follows: as the boundaries inside the block it
    makes no tie, until a mail finds it (`interrupt`).
    """
    m[t + task.TIMER] = push(m, time, entry.BEHIND, entry.FIRE, t, 0, 0)
    m[t + task.UNSEEN] = 1


@compiled
def block(m: Memory, t: int, count: int, seen: int) -> tuple[int, int]:
    """Return how many of so many records there are up to the first one that opens a buffer.

    With it: whether something follows from the end of the last one, as `seen` says of `count`.
    """
    first = m[t + task.FIRST_WRITER]
    for w in range(first, m[t + task.END_WRITER], writer.WIDTH):
        # Else there are just no more that are drawn ahead.
        opens = 1 if m[w + writer.OUT] > m[w + writer.AHEAD] else 0
        if m[w + writer.TO_NEXT] < count:
            count, seen = m[w + writer.TO_NEXT], opens
        elif m[w + writer.TO_NEXT] == count:
            seen |= opens
    return count, seen


@compiled
def wake(m: Memory, t: int) -> None:
    """Wake a thread that waits."""
    enter(m, t, task.WAKING)
    arm(m, t, m[clock.NOW] + m[clock.WAKE_NS])


@compiled
def mailed(m: Memory, t: int) -> None:
    """Note that something was put into the mailbox: it is done at the next record boundary."""
    m[t + task.MAIL] += 1
    state = m[t + task.STATE]
    if state == task.BUSY:
        interrupt(m, t, 0)
    elif state in (task.IDLE, task.BLOCKED):
        wake(m, t)
    elif state == task.PACED:  # at hand, but after whatever else happens now
        sync(m, t)
        m[t + task.COUNT] = 0
        arm(m, t, m[clock.NOW])


@compiled
def interrupt(m: Memory, t: int, behind: int) -> None:
    """Let the records under way end at the next boundary, or so many records after that."""
    count, unseen = m[t + task.COUNT], m[t + task.UNSEEN]
    if count > 1 or unseen:
        step = m[t + task.STEP_NS]
        start = m[t + task.START_NS]
        done = max(1, -((start - m[clock.NOW]) // step)) + behind
        if done < count or (done == count and unseen):
            m[t + task.COUNT] = done
            arm(m, t, start + done * step)


@compiled
def shorten(m: Memory, t: int) -> None:
    """Let the records under way end with the first one that opens a buffer, others being closed."""
    before = m[t + task.COUNT]
    count, seen = block(m, t, before, 1 - m[t + task.UNSEEN])
    if count < before or (before and seen and m[t + task.UNSEEN]):
        m[t + task.COUNT] = count
        if m[t + task.STATE] == task.PACED:
            arm(m, t, m[t + task.DUE_NS] + (count - 1) * m[t + task.GAP_NS])
        else:
            arm(m, t, m[t + task.START_NS] + count * m[t + task.STEP_NS])


@compiled
def sync(m: Memory, t: int) -> None:
    """Account for the records that are done by now. The last one under way is never among them."""
    count = m[t + task.COUNT]
    if count < 2:
        return
    state, now = m[t + task.STATE], m[clock.NOW]
    if state == task.BUSY:
        # A boundary at this very instant is still to come: threads are after all else.
        step = m[t + task.STEP_NS]
        done = min((now - m[t + task.START_NS] - 1) // step, count - 1)
        if done <= 0:
            return
        m[t + task.START_NS] += done * step
    elif state == task.PACED:
        due, gap = m[t + task.DUE_NS], m[t + task.GAP_NS]
        if now <= due:
            return
        done = min((now - due - 1) // gap + 1, count - 1)
        if done <= 0:
            return
    else:
        return
    if m[clock.RECORDED]:
        if m[t + task.IS_SOURCE]:
            note_emitted(m, t, done)
        else:
            note_processed(m, t, done, m[t + task.START_NS])
    m[t + task.COUNT] = count - done
    m[t + task.PROCESSED] += done
    if m[t + task.IS_SOURCE]:
        if m[t + task.GAP_NS] >= 0:
            m[t + task.DUE_NS] += done * m[t + task.GAP_NS]
    else:
        m[t + task.LEFT] -= done
    first = m[t + task.FIRST_WRITER]
    for w in range(first, m[t + task.END_WRITER], writer.WIDTH):
        skip(m, w, done)


@compiled
def pass_over(m: Memory, t: int, count: int) -> None:
    """Count records as done that were not simulated. None of them fills a buffer."""
    m[t + task.PROCESSED] += count
    first = m[t + task.FIRST_WRITER]
    for w in range(first, m[t + task.END_WRITER], writer.WIDTH):
        if m[w + writer.PARTS] >= 0:  # which records give one is fixed by their numbers
            m[w + writer.PROCESSED] += count
            translate(m, w)
    shorten(m, t)


@compiled
def note_emitted(m: Memory, t: int, count: int) -> None:
    """Tell who follows the records that a source has emitted the next ones."""
    note(m, clock.EMITTED, t, count, m[t + task.DUE_NS], m[t + task.GAP_NS])
    tell_at_once(m)


@compiled
def note_processed(m: Memory, t: int, count: int, end: int) -> None:
    """Tell who follows the records that a task has processed the next ones of a channel."""
    note(m, clock.PROCESSED, m[t + task.CHANNEL], count, end, m[t + task.STEP_NS])
    tell_at_once(m)


@compiled
def tell_at_once(m: Memory) -> None:
    """Let Python read the log after this entry if records have identities."""
    if m[clock.RECORDED] == clock.AT_ONCE:
        m[clock.LOG_URGENT] = 1


@compiled
def input_arrived(m: Memory, t: int, g: int) -> None:
    """Note that a gate has something to read."""
    if not m[g + gate.LISTED]:
        m[g + gate.LISTED] = 1
        line_append(m, t + task.TURN_HEAD, g, gate.NEXT_TURN)
    if m[t + task.STATE] == task.IDLE:
        wake(m, t)
    elif (
        m[t + task.TWO_INPUT]
        and m[t + task.READING] != m[g + gate.INDEX]
        and m[t + task.STATE] == task.BUSY
    ):
        interrupt(m, t, 1)  # the next choice sees it afterwards


@compiled
def may_begin(m: Memory, t: int) -> bool:
    """Return whether every pool of a task lets it begin another record."""
    first = m[t + task.FIRST_WRITER]
    for w in range(first, m[t + task.END_WRITER], writer.WIDTH):
        if m[w + writer.FREE] < m[clock.LEAST_FREE] or m[w + writer.FULL]:
            return False
    return True


@compiled
def output_available(m: Memory, t: int) -> None:
    """Note that a pool has a segment again."""
    state = m[t + task.STATE]
    if state == task.BLOCKED:
        if may_begin(m, t):
            wake(m, t)
    elif state == task.STUCK:
        # Inside a record the thread waits for the pool itself, so it continues at once.
        push_thread(m, t, m[clock.NOW], entry.RETRY)
