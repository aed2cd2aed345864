"""Where keys lead: shares of subtasks in the records, and whether a second key is the first one.

Counters of subtasks say both as far as they can: there are none of channels.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean, median_low

from ckptsim.models.recovery.key_groups import (
    MAX_PARALLELISM,
    default_max_parallelism,
    key_group_range,
)
from ckptsim.scenarios.job import Network
from ckptsim.sim.infer.found import Found, Sureness
from ckptsim.sim.infer.tasks.load import ENOUGH, EVEN, FEW, SAMPLES, Times, edge_bytes_of, times_of
from ckptsim.sim.job.buffers.output import kept_shares
from ckptsim.sim.recording import SubtaskAnswer, VertexAnswer

# A receiver that is busy for so much of its time can hold up its senders. Those that it holds up
# are back-pressured longer than the others, by so much, or as long as they, to so much.
_SATURATED = 0.9
_LONGER, _AS_LONG = 0.25, 0.1
# Even shares are believed where they explain counts that a draw of keys could give, and are twenty
# times as likely as the ones of the key groups: less than three squares of the noise for each
# subtask, and six less in all.  Hash codes of few keys are apart by a percent beside the noise of
# the draw.
_EXPLAINED, _LIKELIER, _FEW_KEYS = 3.0, 6.0, 0.01


def shares_of(
    vertex: VertexAnswer, *, segment_bytes: int = Network().segment_bytes
) -> Found[tuple[float, ...]] | None:
    """Return the share of each subtask in the records that come by key. None for even ones.

    Usual are the shares that random keys would give: the ones of the key groups, within four
    standard deviations of a draw.  segment_bytes: of a buffer.
    """
    usual = key_group_shares(vertex.parallelism, vertex.max_parallelism)
    grown = [subtask.growth("numRecordsIn") for subtask in vertex.subtasks]
    counts = [count for count in grown if count is not None]
    total = sum(counts)
    if len(counts) != vertex.parallelism or total < FEW * vertex.parallelism:
        return _by_groups(vertex, usual)
    edge = edge_bytes_of(vertex)
    full = None if edge is None else segment_bytes / edge.value
    came = None if full is None else _came(vertex, full)
    if not _is_odd(counts, usual) or (came is not None and not _is_odd(came, usual)):
        if came is not None and full is not None and _are_even(came, usual, full):
            return None
        return _by_groups(vertex, usual)
    # Those that look alike get the same share: only the outliers are skew.
    middle = median_low(counts)
    alike = [c for c in counts if abs(c - middle) < 4 * math.sqrt(middle)]
    pooled = sum(alike) / len(alike)
    even = [pooled if c in alike else c for c in counts]
    return Found(
        value=tuple(round(count / sum(even), 4) for count in even),
        how=f"records of each subtask, {total:,.0f} in all; skewed",
        answers=SAMPLES,
        sure=Sureness.COUNTED if total >= ENOUGH * len(counts) else Sureness.ESTIMATED,
    )


def _is_odd(counts: Sequence[float], usual: Sequence[float]) -> bool:
    """Return whether counts are no draw of shares."""
    mean = fmean(counts)
    odd = max(abs(n - sum(counts) * share) for n, share in zip(counts, usual, strict=True))
    return odd >= max(EVEN * mean, 4 * math.sqrt(mean))


def _came(vertex: VertexAnswer, full: float) -> list[float]:
    """Return how many records came to each subtask since it began, those in its queue included.

    What it has processed while it was watched has queues in it that were longer before or after.
    full: records of a full buffer.
    """
    return [
        (subtask.last("numRecordsIn") or 0.0)
        + full * (subtask.last("buffers.inputQueueLength") or 0.0)
        for subtask in vertex.subtasks
    ]


def _are_even(came: Sequence[float], usual: Sequence[float], full: float) -> bool:
    """Return whether the records that came by key were dealt out evenly, not by key groups.

    Subtasks that are all busy process as many each whatever their shares are, and queue the rest:
    what came is the processed data since they began, and the content of their queues.
    """
    mean = fmean(came)
    noise = mean + full**2 + (_FEW_KEYS * mean) ** 2
    even, grouped = (
        sum((count - sum(came) * share) ** 2 / noise for count, share in zip(came, of, strict=True))
        for of in ((1 / len(came),) * len(came), usual)
    )
    return even < _EXPLAINED * len(came) and grouped - even > _LIKELIER


def key_group_shares(parallelism: int, max_parallelism: int | None) -> tuple[float, ...]:
    """Return the share of each subtask in the key groups, and so in records of many keys.

    max_parallelism: how many groups there are, None for the engine's own choice.
    """
    count = max_parallelism or default_max_parallelism(parallelism)
    if not parallelism <= count <= MAX_PARALLELISM:
        return (1 / parallelism,) * parallelism
    return tuple(
        len(key_group_range(index, max_parallelism=count, parallelism=parallelism)) / count
        for index in range(parallelism)
    )


def _by_groups(vertex: VertexAnswer, shares: tuple[float, ...]) -> Found[tuple[float, ...]] | None:
    """Return shares as the ones of the key groups. None if they are even."""
    if len(set(shares)) == 1:
        return None
    return Found(
        value=tuple(round(share, 6) for share in shares),
        how="no skew of keys shows: shares of the key groups, which do not go round evenly",
        answers=("/jobs/:id",) if vertex.max_parallelism else (),
        sure=Sureness.ESTIMATED,
    )


def keeps_key(vertex: VertexAnswer, upstream: VertexAnswer) -> Found[bool] | None:
    """Return whether records come by the key by which the vertex in front got them.

    None where it got them otherwise, or there is but one subtask.  With as many subtasks each one
    reads what the one of equal index has written then, to a few percent.  With more or fewer each
    one reads from a few, which shows where keys are skewed, or where the busiest one holds up some
    senders and not others.
    """
    if not upstream.inputs or min(upstream.parallelism, vertex.parallelism) == 1:
        return None
    if any((edge.ship or "").upper() != "HASH" for edge in upstream.inputs):
        return None
    sent, taken = _grown(upstream, "numRecordsOut"), _grown(vertex, "numRecordsIn")
    if sent is None or taken is None:
        return _untold("too few records to tell")
    if len(sent) == len(taken):
        # Windows of vertices differ by the age of their samples: all that was sent was read.
        scale = sum(sent) / sum(taken)
        apart = [abs(out - scale * own) for out, own in zip(sent, taken, strict=True)]
        stays = all(one <= EVEN * max(out, ENOUGH) for one, out in zip(apart, sent, strict=True))
        how = "each subtask reads as much as the one of equal index writes"
        return _told(how if stays else f"not {how}", keeps=stays)
    usual = key_group_shares(len(taken), vertex.max_parallelism)
    weights = [kept_shares(usual, sender=i, senders=len(sent)) for i in range(len(sent))]
    if kept_apart := _by_counts(sent, taken, weights):
        return _told("records of each subtask beside those of its senders", keeps=kept_apart > 0)
    return _by_pressure(upstream, vertex, weights)


def _by_counts(
    sent: Sequence[float], taken: Sequence[float], weights: Sequence[Sequence[float]]
) -> int:
    """Return 1 if the sent data leads to all that was taken by one key, -1 by two, 0 by either."""
    whole = sum(sent)
    usual = [sum(rows) / len(weights) for rows in zip(*weights, strict=True)]
    even = [share / sum(usual) for share in usual]
    kept = [0.0] * len(taken)
    for out, row in zip(sent, weights, strict=True):
        for place, weight in enumerate(row):
            kept[place] += out / whole * weight / sum(row)
    shares = [count / sum(taken) for count in taken]
    if max(abs(k - e) / e for k, e in zip(kept, even, strict=True)) < 4 * EVEN:
        return 0
    off = [sum(abs(s - m) for s, m in zip(shares, model, strict=True)) for model in (kept, even)]
    return 1 if 2 * off[0] < off[1] else -1 if 2 * off[1] < off[0] else 0


def _by_pressure(
    upstream: VertexAnswer, vertex: VertexAnswer, weights: Sequence[Sequence[float]]
) -> Found[bool]:
    """Return what the back-pressure of senders says, by whether they can reach the busiest one."""
    senders, receivers = _times(upstream.subtasks), _times(vertex.subtasks)
    if senders is None or receivers is None:
        return _untold("no times of its subtasks")
    busy = [one.busy_ms / one.clock_ms for one in receivers]
    top = max(range(len(busy)), key=busy.__getitem__)
    pressed = [one.pressed_ms / one.clock_ms for one in senders]
    near = [share for share, row in zip(pressed, weights, strict=True) if row[top]]
    far = [share for share, row in zip(pressed, weights, strict=True) if not row[top]]
    if busy[top] < _SATURATED or not near or not far:
        return _untold("no subtask holds up some of its senders only")
    apart = fmean(near) - fmean(far)
    if apart > _LONGER:
        return _told(
            "its busiest subtask holds up those senders that its keys come from", keeps=True
        )
    # Where the others are busy all the time, too, they hold up the rest of the senders.
    alone = all(share < _SATURATED for index, share in enumerate(busy) if index != top)
    if alone and abs(apart) < _AS_LONG < fmean(near):
        return _told("its busiest subtask holds up all of its senders alike", keeps=False)
    return _untold("back-pressure of its senders says neither")


def _grown(vertex: VertexAnswer, metric: str) -> list[float] | None:
    found = [subtask.growth(metric) for subtask in vertex.subtasks]
    known = [one for one in found if one is not None]
    if len(known) < max(1, vertex.parallelism) or sum(known) < FEW * vertex.parallelism:
        return None
    return known


def _times(subtasks: Sequence[SubtaskAnswer]) -> list[Times] | None:
    found = [times_of(subtask) for subtask in subtasks]
    known = [one for one in found if one is not None]
    return known if len(known) == len(found) else None


def _told(how: str, *, keeps: bool) -> Found[bool]:
    return Found(value=keeps, how=how, answers=SAMPLES, sure=Sureness.ESTIMATED)


def _untold(how: str) -> Found[bool]:
    """Return one key throughout, where nothing says so."""
    return Found(
        value=True,
        how=how,
        answers=(),
        sure=Sureness.ASSUMED,
        effect="with a key of its own every sender waits for the busiest subtask, with that of the "
        "vertex in front only those whose keys it has",
    )
