"""Key groups: the unit in which keyed state and keyed records move between subtasks.

A key belongs to a key group by its hash, a key group to a subtask by its range.  Everything here is
integer arithmetic that must agree bit by bit with the Java original, so hashes wrap at 32 bits.

Source: Apache Flink 1.20.3, KeyGroupRangeAssignment and MathUtils.murmurHash. Java,
String.hashCode.
"""

from __future__ import annotations

from ckptsim.models.core import ProtocolError

MIN_DEFAULT_MAX_PARALLELISM = 128
MAX_PARALLELISM = 32768
"""Lower bound of the default, upper bound of all.  Source: the same class."""

_MASK = 0xFFFFFFFF
_INT_MIN = -(2**31)


def string_hash(text: str) -> int:
    """Return Java's hash of a string: base 31 over UTF-16 units, as a signed 32-bit number."""
    value = 0
    units = text.encode("utf-16-be", errors="surrogatepass")
    for position in range(0, len(units), 2):
        value = (31 * value + (units[position] << 8 | units[position + 1])) & _MASK
    return _signed(value)


def murmur_hash(code: int) -> int:
    """Return the 32-bit murmur3 hash of one 4-byte word with seed 0, made non-negative.

    A negative result is negated. The smallest number, which has no negation, becomes 0.
    """
    value = code & _MASK
    value = value * 0xCC9E2D51 & _MASK
    value = _rotated(value, 15) * 0x1B873593 & _MASK
    value = (_rotated(value, 13) * 5 + 0xE6546B64) & _MASK
    value ^= 4
    value = (value ^ value >> 16) * 0x85EBCA6B & _MASK
    value = (value ^ value >> 13) * 0xC2B2AE35 & _MASK
    signed = _signed(value ^ value >> 16)
    if signed >= 0:
        return signed
    return 0 if signed == _INT_MIN else -signed


def key_group(java_hash: int, max_parallelism: int) -> int:
    """Return the key group of a key with this Java hash code."""
    return murmur_hash(java_hash) % max_parallelism


def operator_of_key_group(group: int, *, max_parallelism: int, parallelism: int) -> int:
    """Return the index of the subtask that owns a key group."""
    return group * parallelism // max_parallelism


def key_group_range(index: int, *, max_parallelism: int, parallelism: int) -> range:
    """Return the key groups that a subtask owns.

    Raises ProtocolError when there are more subtasks than key groups.
    """
    if not 0 < parallelism <= max_parallelism <= MAX_PARALLELISM:
        raise ProtocolError(
            "bad_parallelism", state=f"parallelism {parallelism}, at most {max_parallelism}"
        )
    first = -(-index * max_parallelism // parallelism)
    last = ((index + 1) * max_parallelism - 1) // parallelism
    return range(first, last + 1)


def default_max_parallelism(parallelism: int) -> int:
    """Return the number of key groups that an operator gets when none is set."""
    wanted = parallelism + parallelism // 2
    power = 1 << max(0, wanted - 1).bit_length()
    return min(max(power, MIN_DEFAULT_MAX_PARALLELISM), MAX_PARALLELISM)


def _rotated(value: int, by: int) -> int:
    return (value << by | value >> 32 - by) & _MASK


def _signed(value: int) -> int:
    return value - 2**32 if value & 0x80000000 else value
