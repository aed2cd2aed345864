"""The identity of a store: a random text in every file of it, so that a lost part is noticed."""

from __future__ import annotations

import secrets

SCHEMA_VERSION = "1"


def new_identity() -> str:
    """Return a text that no other store has."""
    return secrets.token_hex(16)
