"""Airbyte protocol messages in and out: events from messages, messages from released states."""

from ckptsim.models.ordering.wire.json_text import Json as Json
from ckptsim.models.ordering.wire.json_text import Number as Number
from ckptsim.models.ordering.wire.json_text import read_json as read_json
from ckptsim.models.ordering.wire.json_text import write_json as write_json
from ckptsim.models.ordering.wire.messages import Incoming as Incoming
from ckptsim.models.ordering.wire.messages import WireError as WireError
from ckptsim.models.ordering.wire.messages import parse_catalog as parse_catalog
from ckptsim.models.ordering.wire.messages import parse_message as parse_message
from ckptsim.models.ordering.wire.messages import render_state as render_state
