"""Read scenario files, all problems at once, and write files whole.

A file of measured costs has them under a key:

    [costs]
    transaction = "5.1 ms"
    flush_ns = "4.2 ms"

`[costs]` has keys of `StepCosts`. What it leaves out stays as the scenario has it.  Another table,
`[measured]`, may say where the costs come from. Nothing reads it.
"""

from __future__ import annotations

import fcntl
import os
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from ckptsim.scenarios.dialect import (
    DIGITS_MAX,
    At,
    Bad,
    printable,
    read_keys,
    schema,
    shown,
    too_long,
)
from ckptsim.scenarios.errors import Problem, ScenarioError, UserError
from ckptsim.scenarios.files import document
from ckptsim.scenarios.files.document import write
from ckptsim.scenarios.limits import PIPELINE, limits_of
from ckptsim.scenarios.links import LINKS
from ckptsim.scenarios.spec import Link, Scenario
from ckptsim.scenarios.store import StepCosts

_LARGEST_FILE_BYTES = 1 << 20


def load(path: Path, *, links: Mapping[str, Link] = LINKS) -> Scenario:
    """Return the scenario in a TOML file. Raises ScenarioError with every problem and its path."""
    return loads(read_text(path), source=printable(str(path)), links=links)


def loads(text: str, *, source: str, links: Mapping[str, Link] = LINKS) -> Scenario:
    """Return the scenario in a TOML text. `source` names it in error texts."""
    return document.read(parse(text, source), source=source, links=links)


def parse(text: str, source: str) -> dict[str, object]:
    """Return the tables of a TOML text. Raises ScenarioError when it is not TOML, or empty."""
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
    """Return the text of a user's file. Raises ScenarioError: unreadable, too large, not UTF-8."""
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


_TABLES = ("costs", "measured")


def load_costs(path: Path) -> dict[str, object]:
    """Return a file's costs in base units, by the field of `StepCosts`. Raises ScenarioError."""
    source = str(path)
    found = parse(read_text(path), source)
    problems: list[Problem] = []
    at = At(source, "", problems)
    for key in found:
        if key not in _TABLES:
            at.key(key).note("an unknown table", "one of costs, measured")
    costs = found.get("costs")
    if not isinstance(costs, Mapping) or not costs:
        at.key("costs").note("nothing" if costs is None else shown(costs), "a table of costs")
        raise ScenarioError(problems)
    values = read_keys(schema(StepCosts), costs, at.key("costs"))
    if problems or isinstance(values, Bad):
        raise ScenarioError(problems)
    return values


def cost_parameters(
    costs: Mapping[str, object], link: str, *, links: Mapping[str, Link] = LINKS
) -> dict[str, object]:
    """Return costs as parameters, by path. Raises ScenarioError for a link without a store."""
    path = links[link].costs
    if path is None:
        known = ", ".join(f"'{each.name}'" for each in links.values() if each.costs is not None)
        raise ScenarioError(
            [Problem("--costs", f"a scenario of link '{link}'", f"one with a store, of {known}")]
        )
    key, limits = links[link].key, limits_of(links[link].model)
    unused = {f"{key}.{one.path}" for one in limits if key == one.limit.place == PIPELINE}
    every = {f"{path}.{name}": value for name, value in costs.items()}
    return {place: value for place, value in every.items() if place not in unused}


def costs_text(costs: Mapping[str, int], measured: Mapping[str, object]) -> str:
    """Return the text of a file with these costs, in base units, and where they come from."""
    written: dict[str, object] = {}
    for entry in schema(StepCosts):
        if entry.name in costs:
            human = entry.kind.human(costs[entry.name])
            bare = isinstance(human, int | float)
            written[entry.name if entry.short is None or bare else entry.short] = human
    return write({"measured": measured, "costs": written})


def written_whole(path: Path, content: str | bytes, *, mode: int = 0o644) -> None:
    """Write a file, or replace a link, as a whole. Raises OSError with the path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:200]}.")
        scratch = Path(name)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content.encode("utf-8") if isinstance(content, str) else content)
            scratch.chmod(mode)
            scratch.replace(path)
        finally:
            scratch.unlink(missing_ok=True)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error


def real_folder(folder: Path) -> Path:
    """Return a folder below an output folder, made if needed. Raises UserError for a link."""
    if folder.is_symlink():
        raise UserError(f"{folder}: found a link, expected a folder; nothing was changed there")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@contextmanager
def alone_in(folder: Path, *, busy: str | None = None) -> Iterator[None]:
    """Lock a folder, made if needed. busy: UserError's text, None to wait."""
    folder.mkdir(parents=True, exist_ok=True)
    held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(held, fcntl.LOCK_EX if busy is None else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(held)
        raise UserError(f"{folder}: {busy}") from error
    try:
        yield
    finally:
        os.close(held)
