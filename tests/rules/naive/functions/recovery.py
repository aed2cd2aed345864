"""Naive second versions of functions of recovery: key groups, mappings, operator state.

Key groups are found by looking at every group, mappings by looking at every pair.

Source: Apache Flink 1.20.3, KeyGroupRangeAssignment, SubtaskStateMapper, TaskStateAssignment,
RoundRobinOperatorStateRepartitioner; the reference implementation of MurmurHash3_x86_32.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ckptsim.models.barriers.channel_state import writer
from ckptsim.models.recovery import key_groups, mapping, operator_state
from ckptsim.models.recovery.mapping import Mapper
from ckptsim.sim.rules.answers import Pick
from tests.rules.naive.calls import RefusedCall

_ODD = -2089875627

# Key groups -----------------------------------------------------------------------------------


def _string_hash(text: str) -> int:
    value = 0
    for (unit,) in struct.iter_unpack(">H", text.encode("utf-16-be", errors="surrogatepass")):
        value = value * 31 + unit
    return (value + 2**31) % 2**32 - 2**31


def _murmur_hash(code: int) -> int:
    word, state = code % 2**32, 0
    word = word * 0xCC9E2D51 % 2**32
    word = (word * 2**15 + word // 2**17) % 2**32
    word = word * 0x1B873593 % 2**32
    state = state ^ word
    state = (state * 2**13 + state // 2**19) % 2**32
    state = (state * 5 + 0xE6546B64) % 2**32
    state = state ^ 4  # the length in bytes
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        state = (state ^ state // 2**shift) * factor % 2**32
    state = state ^ state // 2**16
    signed = state - 2**32 if state >= 2**31 else state
    return 0 if signed == -(2**31) else abs(signed)


def _groups_of(index: int, *, max_parallelism: int, parallelism: int) -> range:
    """Look at every group for the subtask that it belongs to; each has one, or none may run."""
    if parallelism < 1 or max_parallelism not in range(parallelism, 32769):
        raise RefusedCall("bad_parallelism")
    groups = range(max_parallelism)
    own = [group for group in groups if group * parallelism // max_parallelism == index]
    return range(own[0], own[-1] + 1)


def _owner(group: int, *, max_parallelism: int, parallelism: int) -> int:
    """Look for the subtask whose range has the group."""
    sizes = {"max_parallelism": max_parallelism, "parallelism": parallelism}
    return next(at for at in range(parallelism) if group in _groups_of(at, **sizes))


def _default_max_parallelism(parallelism: int) -> int:
    power = 1
    while power < parallelism + parallelism // 2:
        power *= 2
    return sorted((128, power, 32768))[1]


# Mappings -------------------------------------------------------------------------------------


def _may_be_ambiguous(mapper: Mapper) -> bool:
    """Look at all small rescales; a copy gives what many subtasks take to each of them whole."""
    if mapper in (Mapper.UNSUPPORTED, Mapper.COPY):
        return False
    rescales = [(old, new) for old in range(1, 5) for new in range(1, 5)]
    return any(_ambiguous(_mapping_of(mapper, old=o, new=n), old=o) for o, n in rescales)


def _old_subtasks(mapper: Mapper, index: int, *, old: int, new: int) -> tuple[int, ...]:
    if mapper is Mapper.UNSUPPORTED:
        raise RefusedCall("unsupported_rescale")
    if mapper is Mapper.FULL or (mapper is Mapper.FIRST and index == 0):
        return tuple(range(old))
    if mapper is Mapper.FIRST:
        return ()
    if mapper is Mapper.COPY:
        return tuple(at for at in range(old) if (index - at) % old == 0)
    if mapper is Mapper.RANGE:
        # Two ranges of the largest number of key groups meet if one holds a bound of the other.
        def bounds(at: int, count: int) -> tuple[int, int]:
            first = -(-at * 32768 // count)
            return first, -(-(at + 1) * 32768 // count) - 1

        low, high = bounds(index, new)
        spans = [bounds(at, old) for at in range(old)]
        return tuple(at for at, (a, b) in enumerate(spans) if max(a, low) <= min(b, high))
    return tuple(at for at in range(old) if at % new == index)


def _mapping_of(mapper: Mapper, *, old: int, new: int) -> tuple[tuple[int, ...], ...]:
    return tuple(_old_subtasks(mapper, index, old=old, new=new) for index in range(new))


def _inverted(taken: Sequence[tuple[int, ...]], *, old: int) -> tuple[tuple[int, ...], ...]:
    new = range(len(taken))
    return tuple(tuple(index for index in new if at in taken[index]) for at in range(old))


def _ambiguous(taken: Sequence[tuple[int, ...]], *, old: int) -> tuple[int, ...]:
    return tuple(at for at in range(old) if sum(at in one for one in taken) > 1)


def _is_identity(taken: Sequence[tuple[int, ...]], *, old: int) -> bool:
    stays = [taken[at] == (at,) if at < len(taken) else False for at in range(old)]
    return all(stays) and not any(taken[old:])


def assigned(
    distribution: mapping.Distribution, subtask: int, old: tuple[int, int], new: tuple[int, int]
) -> tuple[Any, ...]:
    """Return what a gate takes over: old subtasks, old channels, identity, ambiguous, virtual."""
    if distribution.downstream is None:
        raise RefusedCall("unsupported_rescale")
    assert distribution.downstream is not None
    down = _mapping_of(distribution.downstream, old=old[1], new=new[1])
    up = _mapping_of(distribution.upstream, old=old[0], new=new[0])
    own = down[subtask]
    identity = _is_identity(down, old=old[1]) and _is_identity(up, old=old[0])
    shared = tuple(at for at in own if at in _ambiguous(down, old=old[1]))
    virtual = tuple(tuple((at, one) for at in own for one in channel) for channel in up)
    return own, up, identity, shared, virtual


def _core_assigned(
    distribution: mapping.Distribution, subtask: int, old: tuple[int, int], new: tuple[int, int]
) -> tuple[Any, ...]:
    gate = mapping.assign_gate(
        distribution, subtask=subtask, old_parallelism=old, new_parallelism=new
    )
    virtual = tuple(gate.virtual_channels(channel) for channel in range(new[0]))
    return gate.old_subtasks, gate.old_channels, gate.identity, gate.ambiguous, virtual


# Operator state -------------------------------------------------------------------------------


def _split(elements: Sequence[Sequence[Any]], parallelism: int) -> list[tuple[Any, ...]]:
    """Deal the elements out one by one to find how many each gets, then cut them in order."""
    if len(elements) == parallelism:
        return [tuple(own) for own in elements]
    rest = [element for own in elements for element in own]
    sizes = [len(range(subtask, len(rest), parallelism)) for subtask in range(parallelism)]
    return [tuple(rest[sum(sizes[:at]) : sum(sizes[: at + 1])]) for at in range(parallelism)]


def _broadcast(states: Sequence[Any], parallelism: int) -> list[tuple[Any, ...]]:
    there = [state for state in states if state is not None]
    found = []
    for subtask in range(parallelism):
        if len(states) != parallelism:
            read = [there[subtask % len(there)]] if there else []
        else:
            read = [states[subtask]] if states[subtask] is not None else []
            if there and len(there) < len(states):
                read.append(there[subtask % len(there)])
        found.append(tuple(read))
    return found


def _inlined(parts: Sequence[int], *, inline_threshold_bytes: int) -> int:
    fits = sum(parts) <= inline_threshold_bytes
    return sum(parts) if fits else 0


# What is drawn -----


def _sizes(pick: Pick) -> tuple[int, int]:
    return pick.integer(1, 7), pick.integer(1, 7)


def _draw_old(pick: Pick) -> Sequence[Any]:
    old, new = _sizes(pick)
    return pick.of(list(Mapper)), pick.integer(0, new - 1), {"old": old, "new": new}


def _draw_taken(pick: Pick) -> Sequence[Any]:
    old, new = _sizes(pick)
    own = tuple((at,) if at < old else () for at in range(new))
    mixed = tuple(tuple(at for at in range(old) if pick.one_in(3)) for _ in range(new))
    return pick.of((own, mixed)), {"old": old}


def drawn_gate(pick: Pick, *, odd: bool = False) -> Sequence[Any]:
    """Draw what `assigned` is asked: a distribution, a subtask, old and new parallelisms.

    odd: also of a distribution that has no mapping, which is refused.
    """
    kinds = [p for p, d in mapping.DISTRIBUTIONS.items() if d.supports_unaligned or odd]
    up, down = _sizes(pick)
    new = (up, down) if pick.one_in(3) else _sizes(pick)
    distribution = mapping.DISTRIBUTIONS[pick.of(kinds)]
    return distribution, pick.integer(0, new[1] - 1), (up, down), new


def _draw_groups(pick: Pick) -> Sequence[Any]:
    most = pick.of((1, 5, 128, 160))
    most = most if not pick.one_in(9) else pick.of((0, 32769))
    parallelism = pick.integer(1, 9 if pick.one_in(9) else max(1, min(most, 9)))
    options = {"max_parallelism": most, "parallelism": parallelism}
    return pick.integer(0, parallelism - 1), options


def _draw_group(pick: Pick) -> Sequence[Any]:
    most = pick.of((1, 5, 128, 160))
    options = {"max_parallelism": most, "parallelism": pick.integer(1, min(most, 9))}
    return pick.integer(0, most - 1), options


def _draw_elements(pick: Pick) -> Sequence[Any]:
    old, new = _sizes(pick)
    elements = [[f"{at} {n}" for n in range(pick.integer(0, 3))] for at in range(old)]
    return elements, pick.of((new, old))


def _draw_states(pick: Pick) -> Sequence[Any]:
    old, new = _sizes(pick)
    states = [None if pick.one_in(3) else f"state {at}" for at in range(old)]
    return states, pick.of((new, old))


def _draw_code(pick: Pick) -> Sequence[Any]:
    # Of the hashes of all codes one is the least number, which has no absolute value: that of _ODD.
    codes = (0, 1, -1, 2**31 - 1, -(2**31), _ODD, pick.integer(-(2**31), 2**31 - 1))
    return (pick.of(codes),)


CORES: Mapping[str, Callable[..., Any]] = {
    "string_hash": key_groups.string_hash,
    "murmur_hash": key_groups.murmur_hash,
    "key_group_range": key_groups.key_group_range,
    "default_max_parallelism": key_groups.default_max_parallelism,
    "key_group": key_groups.key_group,
    "operator_of_key_group": key_groups.operator_of_key_group,
    "may_be_ambiguous": lambda mapper: mapper.may_be_ambiguous,
    "old_subtasks": mapping.old_subtasks,
    "inverted": mapping.inverted,
    "ambiguous_subtasks": mapping.ambiguous_subtasks,
    "is_identity": mapping.is_identity,
    "assign_gate": _core_assigned,
    "split": operator_state.split,
    "broadcast": operator_state.broadcast,
    "group_of": writer.group_of,
    "handle_bytes": writer.handle_bytes,
}
NAIVE: Mapping[str, Callable[..., Any]] = {
    "string_hash": _string_hash,
    "murmur_hash": _murmur_hash,
    "key_group_range": _groups_of,
    "default_max_parallelism": _default_max_parallelism,
    "key_group": lambda code, most: _murmur_hash(code) % most,
    "operator_of_key_group": _owner,
    "may_be_ambiguous": _may_be_ambiguous,
    "old_subtasks": _old_subtasks,
    "inverted": _inverted,
    "ambiguous_subtasks": _ambiguous,
    "is_identity": _is_identity,
    "assign_gate": assigned,
    "split": _split,
    "broadcast": _broadcast,
    "group_of": lambda subtask: sum(subtask >= first for first in range(5, 100, 5)),
    "handle_bytes": _inlined,
}
DRAWS: Mapping[str, Callable[[Pick], Sequence[Any]]] = {
    "string_hash": lambda pick: (pick.of(("", "a", "key-17", "zz\u00e9\U0001f600", "a\ud800")),),
    "murmur_hash": _draw_code,
    "key_group_range": _draw_groups,
    "default_max_parallelism": lambda p: (p.of((1, 2, 85, 86, 171, 900, 21845, 21846, 32768)),),
    "key_group": lambda pick: (*_draw_code(pick), pick.of((1, 7, 128))),
    "operator_of_key_group": _draw_group,
    "may_be_ambiguous": lambda pick: (pick.of(list(Mapper)),),
    "old_subtasks": _draw_old,
    "inverted": _draw_taken,
    "ambiguous_subtasks": _draw_taken,
    "is_identity": _draw_taken,
    "assign_gate": lambda pick: drawn_gate(pick, odd=pick.one_in(9)),
    "split": _draw_elements,
    "broadcast": _draw_states,
    "group_of": lambda pick: (pick.integer(0, 17),),
    "handle_bytes": lambda pick: ([pick.integer(0, 3), 2], {"inline_threshold_bytes": 4}),
}
