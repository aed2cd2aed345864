"""The rules of the two interfaces before the one of three operations, and of their redirect.

Each is a table of partition states beside the versions' copies; they differ in what a clear takes
with it, in whose table it is, and in what stays live.

Source: linkedin/venice, pull request 1476, first and second stage; at 77ea837f47,
`DaVinciRecordTransformer.onRecovery`, `AbstractStorageEngine.dropPartition`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from ckptsim.models.store import LocalTopics, TopicPartition, generations
from ckptsim.models.store.state import VersionCopy
from ckptsim.sim.rules.answers import Pick
from tests.rules.naive.naive import Naive

_TOPICS = {"s_v1": 2, "s_v2": 1}
_KINDS = ("over_store", "live", "over_engines", "engines_without_topic")
Call = tuple[Any, ...]


class _Slots:
    """The least store of three operations."""

    def __init__(self) -> None:
        self._blobs: dict[TopicPartition, bytes] = {}

    def set(self, key: TopicPartition, blob: bytes) -> None:
        self._blobs[key] = blob

    def get(self, key: TopicPartition) -> bytes | None:
        return self._blobs.get(key)

    def delete(self, key: TopicPartition) -> None:
        self._blobs.pop(key, None)


def _service(kind: str) -> generations.MetadataService:
    topics, slots = LocalTopics(), _Slots()
    for topic, partitions in _TOPICS.items():
        topics.register(topic, partitions)
    if kind == "live":
        return generations.LiveMetadata()
    if kind == "over_store":
        return generations.MetadataOverStore(slots, topics)
    one = generations.EngineWithoutTopic()
    engines = {topic: generations.EngineOverStore(slots, topics, topic) for topic in _TOPICS}
    return generations.MetadataOverEngines(
        lambda topic: one if "without" in kind else engines[topic]
    )


class _Transformer:
    """A user's transformer that has a service of its own, or none."""

    def __init__(self, service: generations.MetadataService | None) -> None:
        self._service = service

    def storage_metadata_service(self) -> generations.MetadataService | None:
        return self._service


class GenerationCore:
    """A service of some kind, and one behind a redirect, called by name."""

    def __init__(self, kind: str, redirected: tuple[generations.CallSite, ...]) -> None:
        self._own, self._built_in = _service(kind), _service("over_store")
        self._sites = generations.RedirectedMetadata(
            self._own, self._built_in, redirected=redirected
        )

    def step(self, call: Call) -> list[Any]:
        """Carry a call out; a version's change sets its start of push."""
        name, *arguments = call
        if name == "chosen":
            users = (None, _Transformer(None), _Transformer(self._own))
            return [generations.metadata_for(user, self._built_in) is self._own for user in users]
        if name == "compute_version_state":
            topic, at = arguments
            return [self._own.compute_version_state(topic, _change(at))]
        on = self._sites if isinstance(arguments[0], generations.CallSite) else self._own
        found = getattr(on, name)(*arguments)
        if isinstance(found, generations.LiveState):
            found = replace(found)
        return [found]


def _change(at: int) -> Callable[[VersionCopy | None], VersionCopy]:
    return lambda old: replace(old or VersionCopy(), start_of_push_timestamp=at)


class GenerationRules(Naive):
    """What was put, cleared and changed, in order; what is there follows from all of it."""

    def __init__(self, kind: str, redirected: tuple[generations.CallSite, ...]) -> None:
        self._kind = kind
        self._redirected = list(redirected)
        self._calls: list[tuple[str, Call]] = []  # whose, and what changed something there

    def _whose(self, call: Call) -> tuple[str, Call]:
        """Return which service a call reaches, without the site that made it."""
        name, *arguments = call
        if not isinstance(arguments[0], generations.CallSite):
            return "own", call
        return "own" if arguments[0] in self._redirected else "built in", (name, *arguments[1:])

    def _topic(self, whose: str, topic: str) -> str:
        """Return under what a topic is kept: who names no topic has one for all."""
        return "any" if whose == "own" and "without" in self._kind else topic

    def _past(self, whose: str) -> list[Call]:
        return [call for owner, call in self._calls if owner == whose]

    def _partition(self, whose: str, topic: str, partition: int) -> generations.LiveState:
        found, kept_by_value = generations.LiveState(), whose == "built in" or "over" in self._kind
        for name, *arguments in self._past(whose):
            if self._topic(whose, arguments[0]) != self._topic(whose, topic):
                continue
            if name == "put" and arguments[1] == partition:
                found = arguments[2]
            if name == "clear" and arguments[1] == partition:
                found = generations.LiveState()
            if name == "clear_version_state" and kept_by_value:
                found = generations.LiveState()
        return found

    def _version(self, topic: str) -> VersionCopy | None:
        """Return a version's copy: it is gone with the last state that holds it, if states do."""
        holders: list[int] = []
        found: VersionCopy | None = None
        for name, *arguments in self._past("own"):
            if self._topic("own", arguments[0]) != self._topic("own", topic):
                continue
            if name == "compute_version_state":
                found = _change(arguments[1])(found)
                holders = list(range(_TOPICS[topic]))
            if name == "clear" and "over" in self._kind:
                holders = [one for one in holders if one != arguments[1]]
                found = found if holders else None
            if name == "clear_version_state":
                found = None
        return found

    def take(self, event: Any) -> Sequence[Any]:
        """Note a call, and return what it gives."""
        if event[0] == "chosen":
            return [False, False, True]
        whose, call = self._whose(event)
        name, *arguments = call
        if name == "get":
            return [self._partition(whose, *arguments)]
        if name == "get_version_state":
            return [self._version(*arguments)]
        self._calls.append((whose, call))
        return [self._version(arguments[0]) if name == "compute_version_state" else None]

    def stray(self, pick: Pick) -> Any:
        """Return a call."""
        if pick.one_in(20):
            return ("chosen",)
        topic = pick.of(tuple(_TOPICS))
        partition = pick.integer(0, _TOPICS[topic] - 1)
        site = () if pick.one_in(2) else (pick.of(tuple(generations.CallSite)),)
        state = generations.LiveState(
            position=pick.of((-1, 3, pick.integer(0, 9))), end_of_push=pick.one_in(2)
        )
        return pick.of(
            [
                ("put", *site, topic, partition, state),
                ("get", *site, topic, partition),
                ("get", *site, topic, partition),
                ("clear", *site, topic, partition),
                ("compute_version_state", topic, pick.integer(1, 5)),
                ("get_version_state", topic),
                ("clear_version_state", topic),
            ]
        )


def drawn_generation(pick: Pick) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Draw a kind of service, and which call sites are redirected to it."""
    redirected = tuple(site for site in generations.CallSite if pick.one_in(2))
    return (pick.of(_KINDS), redirected), {}
