"""Airbyte protocol messages in and out: events from messages, messages from released states."""

from ckptsim.models.ordering.wire.json_text import Json, Number, read_json, write_json
from ckptsim.models.ordering.wire.messages import (
    Incoming,
    WireError,
    parse_catalog,
    parse_message,
    render_state,
)

__all__ = [
    "Incoming",
    "Json",
    "Number",
    "WireError",
    "parse_catalog",
    "parse_message",
    "read_json",
    "render_state",
    "write_json",
]
