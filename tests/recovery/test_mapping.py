"""Key groups and state mappers: every old subtask's data is taken, and by whom, at any size."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ckptsim.models.core import ProtocolError
from ckptsim.models.recovery import (
    DISTRIBUTIONS,
    MAX_PARALLELISM,
    Mapper,
    Partitioner,
    ambiguous_subtasks,
    assign_gate,
    default_max_parallelism,
    inverted,
    is_identity,
    key_group,
    key_group_range,
    mapping_of,
    murmur_hash,
    old_subtasks,
    operator_of_key_group,
    string_hash,
)

PARALLELISM = st.integers(1, 40)


@given(PARALLELISM, st.sampled_from([40, 128, 200, 1000]))
def test_ranges_partition_the_key_groups(parallelism: int, max_parallelism: int) -> None:
    """Ranges follow each other without gaps, and a group's operator is the owner of its range."""
    following = 0
    for index in range(parallelism):
        groups = key_group_range(index, max_parallelism=max_parallelism, parallelism=parallelism)
        assert groups.start == following
        following = groups.stop
        for group in groups:
            owner = operator_of_key_group(
                group, max_parallelism=max_parallelism, parallelism=parallelism
            )
            assert owner == index
    assert following == max_parallelism


def test_hashes_wrap_as_in_java() -> None:
    """Known values: a collision, a negative hash, units above the basic plane, edge words."""
    assert string_hash("Aa") == string_hash("BB") == 2112
    assert string_hash("") == 0
    assert string_hash("polygenelubricants") == -(2**31)
    assert string_hash("\U0001f600") == 31 * 0xD83D + 0xDE00
    assert murmur_hash(0) == 593_689_054
    assert murmur_hash(-1) >= 0


@given(st.integers(-(2**31), 2**31 - 1), st.sampled_from([1, 7, 128, 32768]))
def test_a_key_group_lies_in_range(java_hash: int, max_parallelism: int) -> None:
    """Whatever the hash, also the smallest one."""
    assert 0 <= key_group(java_hash, max_parallelism) < max_parallelism


@pytest.mark.parametrize(
    ("parallelism", "expected"),
    [(1, 128), (85, 128), (86, 256), (171, 256), (172, 512), (21_845, 32_768), (32_768, 32_768)],
)
def test_the_default_number_of_key_groups(parallelism: int, expected: int) -> None:
    """The next power of two above one and a half times the parallelism, within bounds."""
    assert default_max_parallelism(parallelism) == expected


def test_more_subtasks_than_key_groups_are_refused() -> None:
    """Someone would own nothing."""
    with pytest.raises(ProtocolError, match="bad_parallelism"):
        key_group_range(0, max_parallelism=4, parallelism=5)
    with pytest.raises(ProtocolError, match="bad_parallelism"):
        key_group_range(0, max_parallelism=MAX_PARALLELISM + 1, parallelism=5)


# COPY is of broadcasts: what one subtask leaves, another one has a copy of.
SUPPORTED = [m for m in Mapper if m not in (Mapper.UNSUPPORTED, Mapper.COPY)]


@settings(max_examples=200)
@given(st.sampled_from(SUPPORTED), PARALLELISM, PARALLELISM)
def test_every_old_subtask_is_taken(mapper: Mapper, old: int, new: int) -> None:
    """Nothing is lost. Only range and full may give one old subtask to several new ones."""
    mapping = mapping_of(mapper, old=old, new=new)
    takers = inverted(mapping, old=old)
    assert all(takers)
    if not mapper.may_be_ambiguous:
        assert all(len(indices) == 1 for indices in takers)
    assert ambiguous_subtasks(mapping, old=old) == tuple(
        index for index, indices in enumerate(takers) if len(indices) > 1
    )
    assert all(list(taken) == sorted(set(taken)) for taken in mapping)


@given(PARALLELISM, PARALLELISM)
def test_a_key_is_found_where_its_range_went(old: int, new: int) -> None:
    """For each key group the old owner is among what the new owner takes."""
    mapping = mapping_of(Mapper.RANGE, old=old, new=new)
    for group in range(0, MAX_PARALLELISM, 97):
        before = operator_of_key_group(group, max_parallelism=MAX_PARALLELISM, parallelism=old)
        now = operator_of_key_group(group, max_parallelism=MAX_PARALLELISM, parallelism=new)
        assert before in mapping[now]


@given(st.sampled_from(SUPPORTED), PARALLELISM)
def test_an_unchanged_parallelism_keeps_pairs_unless_all_goes_to_one(
    mapper: Mapper, parallelism: int
) -> None:
    """Range and round-robin are identities. First and full are so for one subtask only."""
    mapping = mapping_of(mapper, old=parallelism, new=parallelism)
    expected = parallelism == 1 or mapper not in (Mapper.FIRST, Mapper.FULL)
    assert is_identity(mapping, old=parallelism) == expected


def test_scale_out_in_turn_is_an_identity_and_scale_in_never() -> None:
    """New subtasks begin empty. Merging always needs virtual channels."""
    assert is_identity(mapping_of(Mapper.ROUND_ROBIN, old=2, new=5), old=2)
    assert not is_identity(mapping_of(Mapper.ROUND_ROBIN, old=5, new=2), old=5)
    assert not is_identity(mapping_of(Mapper.RANGE, old=2, new=3), old=2)


def test_an_unsupported_edge_cannot_be_rescaled() -> None:
    """Its order would be lost. It has no in-flight data in a checkpoint either."""
    with pytest.raises(ProtocolError, match="unsupported_rescale"):
        old_subtasks(Mapper.UNSUPPORTED, 0, old=1, new=2)
    for partitioner in (Partitioner.BROADCAST, Partitioner.FORWARD_UNSPECIFIED):
        with pytest.raises(ProtocolError, match="unsupported_rescale"):
            assign_gate(
                DISTRIBUTIONS[partitioner],
                subtask=0,
                old_parallelism=(1, 1),
                new_parallelism=(2, 2),
            )


def test_the_virtual_channels_of_a_rescaled_gate() -> None:
    """From 2 x 3 to 2 x 2 on a keyed edge: pairs of old subtask and old channel per channel."""
    keyed = DISTRIBUTIONS[Partitioner.KEY_GROUP]
    found = assign_gate(keyed, subtask=0, old_parallelism=(2, 3), new_parallelism=(2, 2))
    assert found.old_subtasks == (0, 1)
    assert found.old_channels == ((0,), (1,))
    assert found.ambiguous == (1,)
    assert not found.identity
    assert found.virtual_channels(1) == ((0, 1), (1, 1))


def test_an_unchanged_gate_needs_no_virtual_channels() -> None:
    """Nothing has moved in either dimension."""
    rebalance = DISTRIBUTIONS[Partitioner.REBALANCE]
    found = assign_gate(rebalance, subtask=1, old_parallelism=(3, 2), new_parallelism=(3, 2))
    assert found.identity
    assert found.old_subtasks == (1,)
    assert found.ambiguous == ()


def test_a_new_subtask_may_take_nothing() -> None:
    """Scaling out in turn leaves the further subtasks without old data."""
    rebalance = DISTRIBUTIONS[Partitioner.REBALANCE]
    found = assign_gate(rebalance, subtask=3, old_parallelism=(2, 2), new_parallelism=(2, 4))
    assert found.old_subtasks == ()
    assert found.virtual_channels(0) == ()


@settings(max_examples=300)
@given(
    st.integers(-(2**31), 2**31 - 1),
    st.tuples(st.integers(1, 12), st.integers(1, 12)),
    st.tuples(st.integers(1, 12), st.integers(1, 12)),
    st.data(),
)
def test_a_keyed_record_in_flight_is_replayed_exactly_once(
    java_hash: int, old: tuple[int, int], new: tuple[int, int], data: st.DataObject
) -> None:
    """Of all virtual channels that hold its old channel exactly one keeps the record."""
    group = key_group(java_hash, 128)
    held_by = operator_of_key_group(group, max_parallelism=128, parallelism=old[1])
    wanted_by = operator_of_key_group(group, max_parallelism=128, parallelism=new[1])
    came_from = data.draw(st.integers(0, old[0] - 1))
    kept = 0
    for subtask in range(new[1]):
        found = assign_gate(
            DISTRIBUTIONS[Partitioner.KEY_GROUP],
            subtask=subtask,
            old_parallelism=old,
            new_parallelism=new,
        )
        for channel in range(new[0]):
            replayed = (held_by, came_from) in found.virtual_channels(channel)
            accepted = held_by not in found.ambiguous or subtask == wanted_by
            kept += replayed and accepted
            assert subtask == wanted_by or not (replayed and accepted)
    assert kept == 1


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
