"""The endpoint that serves compression dictionaries, so that no checkpoint has to repeat them."""

from __future__ import annotations

from typing import Protocol

from ckptsim.models.store.errors import Refusal, StoreError


class DictionaryServer(Protocol):
    """Serves the compression dictionary of a version topic."""

    def fetch(self, topic: str) -> str:
        """Return the dictionary; raises StoreError DICT_UNAVAILABLE, which may be retried."""
        ...


class ModelDictionaryServer:
    """Dictionaries by topic, and a switch for the outage of the endpoint."""

    def __init__(self) -> None:
        self.dictionaries: dict[str, str] = {}
        self.up = True

    def fetch(self, topic: str) -> str:
        """Return the dictionary of a topic; raises StoreError DICT_UNAVAILABLE."""
        if not self.up or topic not in self.dictionaries:
            reason = "no dictionary for this topic" if self.up else "the endpoint is down"
            raise StoreError(Refusal.DICT_UNAVAILABLE, state=reason, event=topic)
        return self.dictionaries[topic]
