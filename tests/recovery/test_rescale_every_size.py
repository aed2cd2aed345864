"""Every mapper for every old and new parallelism up to 16, against a reading by brute force."""

from __future__ import annotations

from itertools import product

import pytest

from ckptsim.models.recovery.key_groups import (
    MAX_PARALLELISM,
    key_group_range,
    operator_of_key_group,
)
from ckptsim.models.recovery.mapping import (
    DISTRIBUTIONS,
    Mapper,
    Partitioner,
    assign_gate,
    inverted,
    is_identity,
    mapping_of,
)

SIZES = range(1, 17)
SMALL = range(1, 5)


def owner(group: int, parallelism: int) -> int:
    """Return the subtask that owns a key group, by the formula."""
    return group * parallelism // MAX_PARALLELISM


def by_brute_force(mapper: Mapper, old: int, new: int) -> set[tuple[int, int]]:
    """Return the pairs (old, new) that a mapper joins, each by its own definition."""
    every = set(product(range(old), range(new)))
    match mapper:
        case Mapper.FIRST:
            return {(i, j) for i, j in every if j == 0}
        case Mapper.FULL:
            return every
        case Mapper.RANGE:
            # Owners change only where a range of either parallelism begins.
            starts = {-(-i * MAX_PARALLELISM // p) for p in (old, new) for i in range(p)}
            return {(owner(group, old), owner(group, new)) for group in starts}
        case _:
            return {(i, j) for i, j in every if i % new == j}


@pytest.mark.parametrize(
    "mapper", [m for m in Mapper if m not in (Mapper.UNSUPPORTED, Mapper.COPY)]
)
def test_a_mapper_joins_what_its_definition_says(mapper: Mapper) -> None:
    """Both directions agree with it, nothing is lost, and an identity moves nothing."""
    for old, new in product(SIZES, SIZES):
        mapping = mapping_of(mapper, old=old, new=new)
        pairs = by_brute_force(mapper, old, new)
        assert {(i, j) for j, taken in enumerate(mapping) for i in taken} == pairs
        assert {(i, j) for i, to in enumerate(inverted(mapping, old=old)) for j in to} == pairs
        assert {i for i, _ in pairs} == set(range(old))
        assert mapper.may_be_ambiguous or len(pairs) == old
        assert is_identity(mapping, old=old) == (pairs == {(i, i) for i in range(old)})


@pytest.mark.parametrize("maximum", [16, 17, 128, 200, MAX_PARALLELISM])
def test_every_key_group_belongs_to_one_subtask(maximum: int) -> None:
    """The ranges follow each other without gap, and the owner of a group has it in its range."""
    for parallelism in SIZES:
        ranges = [
            key_group_range(index, max_parallelism=maximum, parallelism=parallelism)
            for index in range(parallelism)
        ]
        assert [group for groups in ranges for group in groups] == list(range(maximum))
        for group in range(0, maximum, max(1, maximum // 500)):
            index = operator_of_key_group(group, max_parallelism=maximum, parallelism=parallelism)
            assert group in ranges[index]


@pytest.mark.parametrize(
    "partitioner",
    [p for p in Partitioner if DISTRIBUTIONS[p].supports_unaligned],
)
def test_every_buffer_in_flight_is_replayed(partitioner: Partitioner) -> None:
    """Of every old channel once for each new subtask that takes its receiver, and never twice."""
    for old_up, old_down, new_up, new_down in product(SMALL, SMALL, SMALL, SMALL):
        replayed: dict[tuple[int, int], list[int]] = {}
        for subtask in range(new_down):
            gate = assign_gate(
                DISTRIBUTIONS[partitioner],
                subtask=subtask,
                old_parallelism=(old_up, old_down),
                new_parallelism=(new_up, new_down),
            )
            for channel in range(new_up):
                for pair in gate.virtual_channels(channel):
                    replayed.setdefault(pair, []).append(subtask)
        assert set(replayed) == set(product(range(old_down), range(old_up)))
        mapper = DISTRIBUTIONS[partitioner].downstream
        assert mapper is not None
        wanted = by_brute_force(mapper, old_down, new_down)
        for (receiver, _), subtasks in replayed.items():
            assert sorted(subtasks) == sorted(j for i, j in wanted if i == receiver)
