"""Version state: what a whole store version has in common, regenerated from its partitions.

The start-of-push message of each partition carries the same description of the version.  Each
partition state keeps a copy of the six fields that a client needs. The version state itself is
stored nowhere.  It is regenerated from the copies, and copies that disagree are an error, never a
merge.  Two things are left out: what only servers use, and the compression dictionary, which is too
bulky to repeat per partition and is fetched instead.

Source: linkedin/venice, pull request 1476 (final plan). Which six fields are copied is a choice
made here, the thread does not list them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace

from ckptsim.models.store.errors import Refusal, StoreError

DICTIONARY_STRATEGY = "ZSTD_WITH_DICT"

FieldValue = str | int | bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionCopy:
    """One partition's copy of the fields of its version. None where the message had none."""

    sorted: FieldValue = None
    chunked: FieldValue = None
    compression_strategy: FieldValue = None
    batch_conflict_resolution_policy: FieldValue = None
    start_of_push_timestamp: FieldValue = None
    end_of_push_timestamp: FieldValue = None


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionState:
    """The nine fields of a version. None where a field is not copied into partition states."""

    copy: VersionCopy
    compression_dictionary: str | None = None
    start_of_buffer_replay: None = None
    topic_switch: None = None


def copy_of(message: Mapping[str, FieldValue]) -> VersionCopy:
    """Copy the six fields from a start-of-push message with names in camel case."""
    return VersionCopy(**{field: message.get(wire) for wire, field in WIRE_NAMES.items()})


def disagreement(left: VersionCopy, right: VersionCopy) -> str | None:
    """Name the first field in which two copies disagree, or None.

    The end-of-push timestamp is written later than the rest: 0 or none agrees with any.
    """
    for field in WIRE_NAMES.values():
        mine, theirs = getattr(left, field), getattr(right, field)
        if field == "end_of_push_timestamp" and (not mine or not theirs):
            continue
        if mine != theirs:
            return f"{field}: {mine!r} and {theirs!r}"
    return None


def agreed(copies: Iterable[VersionCopy]) -> VersionCopy | None:
    """Return what all copies say, with the end-of-push timestamp of those that have one.

    Returns None when there is no copy.  Raises StoreError INCONSISTENT_SVS.
    """
    result: VersionCopy | None = None
    for copy in copies:
        if result is None:
            result = copy
            continue
        conflict = disagreement(result, copy)
        if conflict is not None:
            raise StoreError(Refusal.INCONSISTENT_SVS, state=conflict)
        if not result.end_of_push_timestamp and copy.end_of_push_timestamp is not None:
            result = replace(result, end_of_push_timestamp=copy.end_of_push_timestamp)
    return result


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


# Name in the message -> name of the field here, in the order of the fields.
WIRE_NAMES = {_camel(field.name): field.name for field in fields(VersionCopy)}
