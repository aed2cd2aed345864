"""Version state: what a whole store version has in common, regenerated from its partitions.

The start-of-push message of each partition carries the same description of the version.  Each
partition state keeps a copy of the six fields that a client needs. The version state itself is
stored nowhere.  It is regenerated from the copies, and copies that disagree are an error, never a
merge.  Two things are left out: what only servers use, and the compression dictionary, which is too
bulky to repeat per partition and is fetched instead, unless the settings ask for a copy.

Source: linkedin/venice, pull request 1476 (final plan). Which six fields are copied is a choice
made here, the thread does not list them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace

from ckptsim.models.store.errors import Refusal, StoreError
from ckptsim.models.store.topics import TopicPartition

DICTIONARY_STRATEGY = "ZSTD_WITH_DICT"

FieldValue = str | int | bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionCopy:
    """One partition's copy of the fields of its version. None where the message had none.

    compression_dictionary: only where the settings ask for it. A blob without it does not name it.
    """

    sorted: FieldValue = None
    chunked: FieldValue = None
    compression_strategy: FieldValue = None
    batch_conflict_resolution_policy: FieldValue = None
    start_of_push_timestamp: FieldValue = None
    end_of_push_timestamp: FieldValue = None
    compression_dictionary: FieldValue = None


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionState:
    """The nine fields of a version. None where a field is not copied into partition states."""

    copy: VersionCopy
    compression_dictionary: str | None = None
    start_of_buffer_replay: None = None
    topic_switch: None = None


def copy_of(message: Mapping[str, FieldValue], *, dictionary: bool = False) -> VersionCopy:
    """Copy the six fields from a start-of-push message with names in camel case.

    dictionary: whether to copy the compression dictionary too.
    """
    wanted = WIRE_NAMES | ({_camel(_DICTIONARY): _DICTIONARY} if dictionary else {})
    return VersionCopy(**{field: message.get(wire) for wire, field in wanted.items()})


def disagreement(left: VersionCopy, right: VersionCopy) -> str | None:
    """Name the first field in which two copies disagree, or None.

    The end-of-push timestamp is written later than the rest: 0 or none agrees with any.
    """
    for field in (*WIRE_NAMES.values(), _DICTIONARY):
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


class SharedCopies:
    """The copies of the open partitions: equal ones of a topic are kept once, and counted.

    Each partition of a topic reads a start of push, and compares it with what the others say. As
    long as they say the same, that is one comparison for each and not one for each pair.
    """

    def __init__(self) -> None:
        self._of: dict[TopicPartition, VersionCopy | None] = {}
        self._counts: dict[str, dict[VersionCopy | None, int]] = {}

    def note(self, key: TopicPartition, copy: VersionCopy | None) -> None:
        """Note what an open partition says now. None while it has seen no start of push."""
        if key in self._of and self._of[key] == copy:
            return
        self.forget(key)
        self._of[key] = copy
        counts = self._counts.setdefault(key.topic, {})
        counts[copy] = counts.get(copy, 0) + 1

    def forget(self, key: TopicPartition) -> None:
        """Forget a partition that is closed."""
        if key not in self._of:
            return
        copy, counts = self._of.pop(key), self._counts[key.topic]
        counts[copy] -= 1
        if not counts[copy]:
            del counts[copy]

    def of_topic(
        self, topic: str, partitions: int, *, apart_from: TopicPartition | None = None
    ) -> tuple[VersionCopy, ...] | None:
        """Return the one copy that all partitions of a topic have, if any has.

        None where some are not open, or say different things: then each has to be asked.
        """
        counts = self._counts.get(topic, {})
        copies = [copy for copy in counts if copy is not None]
        if sum(counts.values()) < partitions or len(copies) > 1:
            return None
        own = None if apart_from is None else self._of[apart_from]
        return tuple(copy for copy in copies if counts[copy] > (copy == own))


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


_DICTIONARY = "compression_dictionary"
# Name in the message -> name of the field here, of the six that are always copied.
WIRE_NAMES = {_camel(one.name): one.name for one in fields(VersionCopy) if one.name != _DICTIONARY}
