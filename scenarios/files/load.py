"""Read scenario files: TOML to Scenario, all problems at once, never a traceback."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path

from ckptsim.scenarios.dialect import DIGITS_MAX, printable, shown, too_long
from ckptsim.scenarios.errors import Problem, ScenarioError
from ckptsim.scenarios.files import document
from ckptsim.scenarios.links import LINKS
from ckptsim.scenarios.spec import Link, Scenario

_LARGEST_FILE_BYTES = 1 << 20


def load(path: Path, *, links: Mapping[str, Link] = LINKS) -> Scenario:
    """Return the scenario in a TOML file.

    Raises ScenarioError with every problem found, each with its path in the file.
    """
    return loads(read_text(path), source=printable(str(path)), links=links)


def loads(text: str, *, source: str, links: Mapping[str, Link] = LINKS) -> Scenario:
    """Return the scenario in a TOML text. `source` names it in error texts."""
    return document.read(parse(text, source), source=source, links=links)


def parse(text: str, source: str) -> dict[str, object]:
    """Return the tables of a TOML text.

    Raises ScenarioError when it is not TOML or holds nothing.
    """
    try:
        found = tomllib.loads(text)
    except RecursionError:
        raise _refused(source, "tables or arrays nested too deeply", "at most some 20") from None
    except ValueError as error:  # TOMLDecodeError, and integers of more digits than Python reads
        number = too_long(error, text)
        if number is not None:
            raise _refused(source, number, f"at most {DIGITS_MAX}") from None
        raise _refused(source, f"no TOML: {printable(str(error)[:200])}", "a TOML file") from None
    if not found:
        raise _refused(source, "an empty file", "the keys of a scenario, at least name and link")
    return found


def read_text(path: Path) -> str:
    """Return the text of a file of the user's.

    Raises ScenarioError when it cannot be read, is too large or not UTF-8.
    """
    source = printable(str(path))
    try:
        if path.is_dir():
            raise _refused(source, "a directory", "a TOML file")
        if path.exists() and not path.is_file():
            raise _refused(source, "a device or pipe", "a TOML file")
        with path.open("rb") as file:
            raw = file.read(_LARGEST_FILE_BYTES + 1)
        if len(raw) > _LARGEST_FILE_BYTES:
            expected = f"at most {_LARGEST_FILE_BYTES} bytes"
            raise _refused(source, "a larger file", expected)
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        found = f"no UTF-8 at byte {error.start}"
        raise _refused(source, found, "a TOML file in UTF-8") from None
    except FileNotFoundError:
        raise _refused(source, "no such file", "a TOML file") from None
    except (OSError, ValueError) as error:  # ValueError: a path with a null character
        found = getattr(error, "strerror", None) or shown(str(error))
        raise _refused(source, found, "a readable TOML file") from None


def _refused(source: str, found: str, expected: str) -> ScenarioError:
    return ScenarioError([Problem(source, found, expected)])
