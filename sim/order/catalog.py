"""The configured catalog of a sync: which streams it has."""

from __future__ import annotations

from pathlib import Path

from ckptsim.models.ordering import StreamDescriptor
from ckptsim.models.ordering.wire import WireError, parse_catalog, read_json
from ckptsim.scenarios.errors import UserError


def read_catalog(path: Path) -> tuple[StreamDescriptor, ...]:
    """Return the streams of a configured catalog, in its order.

    Raises UserError when the file cannot be read as one.
    """
    try:
        return parse_catalog(read_json(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from error
    except WireError as error:
        raise UserError(f"{path}: {error}") from error
    except ValueError as error:
        raise UserError(f"{path}: found no JSON ({error}), expected a catalog") from error
