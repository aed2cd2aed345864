"""Run the vectors of suite `rescale`: key groups, state mappers, partitioners."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ckptsim.models.recovery import key_groups
from ckptsim.models.recovery.in_flight import Exchange, InFlightAssignment
from ckptsim.models.recovery.mapping import (
    DISTRIBUTIONS,
    Distribution,
    Mapper,
    Partitioner,
    inverted,
)
from ckptsim.sim.conform.runner import Adapter, Mismatch, Vector, compare_fields, named
from ckptsim.sim.slots import Factory

Row = dict[str, Any]


def run(vector: Vector, make: Factory | None) -> Mismatch | None:
    """Compare every value that the vector carries."""
    del make
    found = named(_KINDS, vector["kind"])(vector)
    return compare_fields("", vector, {key: found[key] for key in found if key in vector})


def _old_subtasks(vector: Vector) -> Row:
    """Ask for the gates that the new subtasks of a job get, after one sender that stays one."""
    mapper, old, new = Mapper(vector["mapper"]), vector["old"], vector["new"]
    distribution = Distribution(upstream=Mapper.ARBITRARY, downstream=mapper)
    exchange = Exchange(distribution=distribution, old=(1, old), new=(1, new))
    assignment = InFlightAssignment()
    gates = [assignment.gate(exchange, subtask) for subtask in range(new)]
    mapping = tuple(gate.old_subtasks for gate in gates)
    return {
        "old_of_new": [list(taken) for taken in mapping],
        "new_of_old": [list(takers) for takers in inverted(mapping, old=old)],
        "ambiguous_old": sorted({one for gate in gates for one in gate.ambiguous}),
        "mapper_may_be_ambiguous": mapper.may_be_ambiguous,
        "identity": all(gate.identity for gate in gates),
    }


def _ranges(vector: Vector) -> Row:
    maximum, parallelism = vector["max_parallelism"], vector["parallelism"]
    ranges = [
        key_groups.key_group_range(index, max_parallelism=maximum, parallelism=parallelism)
        for index in range(parallelism)
    ]
    operators = [
        key_groups.operator_of_key_group(group, max_parallelism=maximum, parallelism=parallelism)
        for group in range(maximum)
    ]
    return {
        "ranges": [[groups.start, groups.stop - 1] for groups in ranges],
        "operator_of_key_group": operators,
    }


def _key_group(vector: Vector) -> Row:
    key = vector["key"]
    java_hash = key if vector["key_type"] == "int" else key_groups.string_hash(key)
    group = key_groups.key_group(java_hash, 128)
    return {
        "java_hash": java_hash,
        "murmur": key_groups.murmur_hash(java_hash),
        "key_group_128": group,
        "key_group_200": key_groups.key_group(java_hash, 200),
        "operator_128_p1_to_p8": [
            key_groups.operator_of_key_group(group, max_parallelism=128, parallelism=parallelism)
            for parallelism in range(1, 9)
        ],
    }


def _partitioner(vector: Vector) -> Row:
    found = DISTRIBUTIONS[Partitioner(vector["partitioner"])]
    downstream = found.downstream
    return {
        "upstream_mapper": found.upstream.value,
        "downstream_mapper": "RuntimeException" if downstream is None else downstream.value,
        "pointwise": found.pointwise,
        "broadcast": found.broadcast,
        "supports_unaligned": found.supports_unaligned,
    }


_KINDS: dict[str, Callable[[Vector], Row]] = {
    "old_subtasks": _old_subtasks,
    "key_group_ranges": _ranges,
    "key_group": _key_group,
    "default_max_parallelism": lambda vector: {
        "of_parallelism": {
            p: key_groups.default_max_parallelism(int(p)) for p in vector["of_parallelism"]
        }
    },
    "partitioner": _partitioner,
}

ADAPTER = Adapter(run=run)
