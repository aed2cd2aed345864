"""Take out of a recording secrets: secrets, hosts, paths, users.

Two passes over all answers: the first collects the hosts, the second replaces them everywhere, also
inside ids of task managers and paths of GETs. Users, paths and secrets are found where they stand.
What the inference needs is numbers, names of operators and names of options, and stays: a host may
well be called as an option is, or as a part of a path that the server knows.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from ckptsim.sim.capture.client import Body
from ckptsim.sim.capture.visit import Taken

HIDDEN = "******"
# Source: Apache Flink 1.20.3, GlobalConfiguration.SENSITIVE_KEYS, and words that others use.
_SECRET = re.compile(
    r"passw|secret|token|credential|api[-_.]?key|account[-_.]?key|access[-_.]?key|service[-_.]?key"
    r"|private[-_.]?key|auth|jaas|sasl|keytab|principal|http-headers|truststore|keystore|signature",
    re.IGNORECASE,
)
_HOST_KEYS = re.compile(
    r"(^|[.\-_])(host|hostname|endpoint|address|servers?|url|uri)$", re.IGNORECASE
)
_USER_KEYS = re.compile(r"(^|[.\-_])(user|username|user\.name|owner|proxyuser)$", re.IGNORECASE)
_LOCATION = re.compile(r"\b([a-z][a-z0-9+.\-]{1,15}:/{1,3})([^\s\"',;]+)")
_FOLDER = re.compile(r"(?<![\w/.:*])(/(?:[\w@.\-+]+/)+[\w@.\-+]*)")
_ADDRESS = re.compile(r"(?<![\d.])(?:\d{1,3}\.){3}\d{1,3}(?![\d.])")
_TASK_MANAGER = re.compile(r"(?<=^/taskmanagers/)[^/?]+")
_KEPT_HOSTS = ("localhost", "127.0.0.1", "0.0.0.0", "")  # noqa: S104
_HOST = re.compile(r"[A-Za-z0-9][\w.\-]{1,254}")  # Source: RFC 1035, 2.3.4: 255 octets
# A text is words and the characters between them.
_WORD = re.compile(r"[A-Za-z0-9]+")
_PIECE = re.compile(r"[A-Za-z0-9]+|[^A-Za-z0-9]")
# Everything below these keys is the user's own words.
_OWN_WORDS = ("user-config",)


@dataclass(slots=True)
class Redaction:
    """Everything that was taken out: kind of thing -> how many different ones."""

    counts: dict[str, int] = field(default_factory=dict)
    _stand_ins: dict[str, dict[str, str]] = field(default_factory=dict)
    _hosts: dict[str, Any] = field(default_factory=dict)  # piece -> what follows. "" -> stand-in

    def learn(self, kind: str, found: str) -> str:
        """Return the stand-in of a host, user or path, the same for the same."""
        known = self._stand_ins.setdefault(kind, {})
        if found not in known:
            known[found] = f"{kind}-{len(known) + 1}"
            self.counts[kind] = len(known)
            if kind == "host":
                node = self._hosts
                for piece in _PIECE.findall(found):
                    node = node.setdefault(piece, {})
                node[""] = known[found]
        return known[found]

    def hide(self) -> str:
        """Count a secret and return its replacement."""
        self.counts["secret"] = self.counts.get("secret", 0) + 1
        return HIDDEN

    def without_hosts(self, text: str) -> str:
        """Return a text with a stand-in for every host, the longest that begins at a place.

        A host is a row of whole words and separators.  The rows are a tree, so looking for all of
        them takes no longer than for one.
        """
        pieces = _PIECE.findall(text)
        found: list[str] = []
        place = 0
        while place < len(pieces):
            place, stand_in = self._host_at(pieces, place)
            found.append(stand_in)
        return "".join(found)

    def _host_at(self, pieces: Sequence[str], place: int) -> tuple[int, str]:
        longest = place + 1, pieces[place]
        node, end = self._hosts, place
        while end < len(pieces) and pieces[end] in node:
            node, end = node[pieces[end]], end + 1
            is_whole = end == len(pieces) or not _WORD.fullmatch(pieces[end])
            if is_whole and "" in node:
                longest = end, node[""]
        return longest


def redacted(taken: Sequence[Taken]) -> tuple[list[Taken], Redaction]:
    """Return the answers without secrets, and what that was."""
    redaction = Redaction()
    for answer in taken:
        for key, text in _texts(answer.body.value, ""):
            _learn(redaction, key, text)
    return [_redacted(answer, redaction) for answer in taken], redaction


def _texts(value: Any, key: str) -> Iterator[tuple[str, str]]:
    """Yield every text of an answer with its key, or the `key` of the object it is in."""
    if isinstance(value, dict):
        named = value.get("key")
        for name, inner in value.items():
            own = named if name == "value" and isinstance(named, str) else name
            yield from _texts(inner, own)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner, key)
    elif isinstance(value, str):
        yield key, value


def _learn(redaction: Redaction, key: str, text: str) -> None:
    if _HOST_KEYS.search(key):
        for part in re.split(r"[,;]", text):
            host = re.sub(r"^[a-z0-9+.\-]+://([^@/]*@)?", "", part.strip())
            host = re.sub(r"[:/].*$", "", host)
            if host not in _KEPT_HOSTS and _HOST.fullmatch(host):
                redaction.learn("host", host)
    for address in _ADDRESS.findall(text):
        if address not in _KEPT_HOSTS:
            redaction.learn("host", address)


def _redacted(answer: Taken, redaction: Redaction) -> Taken:
    changed = _walk(answer.body.value, "", redaction)
    path = _TASK_MANAGER.sub(lambda match: redaction.without_hosts(match[0]), answer.path)
    if changed == answer.body.value:
        return Taken(path, answer.at_ms, answer.body)
    raw = json.dumps(changed, separators=(",", ":"), ensure_ascii=False).encode()
    return Taken(path, answer.at_ms, Body(raw, changed))


def _walk(value: Any, key: str, redaction: Redaction) -> Any:
    if isinstance(value, dict):
        named = value.get("key")
        found: dict[str, Any] = {}
        for name, inner in value.items():
            own = named if name == "value" and isinstance(named, str) else name
            if own in _OWN_WORDS and inner:
                found[name] = {}
                redaction.hide()
            else:
                found[name] = _walk(inner, own, redaction)
        return found
    if isinstance(value, list):
        return [_walk(inner, key, redaction) for inner in value]
    if isinstance(value, str):
        return _text(value, key, redaction)
    return value


def _text(text: str, key: str, redaction: Redaction) -> str:
    if key == "key":  # the name of an option
        return text
    if text and _SECRET.search(key):
        return redaction.hide()
    if _USER_KEYS.search(key) and text:
        return redaction.learn("user", text)
    text = _LOCATION.sub(_stand_in(redaction), text)
    text = _FOLDER.sub(lambda match: redaction.learn("path", match[1]), text)
    return redaction.without_hosts(text)


def _stand_in(redaction: Redaction) -> Callable[[re.Match[str]], str]:
    """Return what replaces a location: its scheme stays, which says what sort of place it is."""

    def of(match: re.Match[str]) -> str:
        if match[1].rstrip("/") in ("pekko:", "akka:", "akka.tcp:", "pekko.tcp:"):
            return match[0]  # an address of the engine, from which a host is learnt
        return f"{match[1]}{redaction.learn('path', match[2])}"

    return of
