"""An imported job as a TOML file: every value with how it was found, in a comment above it."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator

from ckptsim.scenarios.files import Place, document, write
from ckptsim.sim.infer.found import Finding
from ckptsim.sim.infer.job import Imported
from ckptsim.sim.recording import Recording

_WIDTH = 96
_UNIT = re.compile(r"(?<=.)_(ns|bytes_per_s|per_s|bytes)$")


def text_of(imported: Imported, recording: Recording, *, head: str) -> str:
    """Return the file of an imported job. `head` says in one line what made it."""
    written = document.human(imported.scenario)
    present = set(_places(written))
    comments: dict[Place, list[str]] = {}
    elsewhere: list[str] = []
    for one in imported.findings:
        place = next((found for found in _spellings(one.place) if found in present), None)
        if place is None:
            elsewhere += _wrapped(f"{one.name} = {one.value}: {_origin(one)}")
        else:
            comments.setdefault(place, []).extend(_wrapped(_origin(one)))
    lines = [head, *_asked(imported)]
    if recording.notes:
        lines += ["", "The recording lacks:"]
        lines += [part for note in recording.notes for part in _wrapped(str(note))]
    if elsewhere:
        lines += ["", "Found, and at the default of the parameter, or part of others:", *elsewhere]
    top = "\n".join(f"# {line}".rstrip() for line in lines)
    return f"{top}\n\n{write(written, comments)}"


def _asked(imported: Imported) -> Iterator[str]:
    """Yield what the recording could not say, by name, with its default."""
    if not imported.asked:
        return
    yield ""
    yield "The recording does not say, so these are defaults; change them where you know better:"
    for one in imported.asked:
        yield from _wrapped(f"{one.name} = {one.value} ({one.how}); {one.effect}")


def _origin(one: Finding) -> str:
    answers = f", from {', '.join(one.answers)}" if one.answers else ""
    return f"{one.sure.value}: {one.how}{answers}"


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, _WIDTH, subsequent_indent="  ", break_long_words=False)


def _spellings(place: Place) -> tuple[Place, Place]:
    """Return a place as it is and with the short key, which a file has where units are written."""
    last = place[-1]
    return place, (*place[:-1], _UNIT.sub("", last) if isinstance(last, str) else last)


def _places(found: object, place: Place = ()) -> Iterator[Place]:
    """Yield the places of all single values of a document."""
    if isinstance(found, dict):
        for key, value in found.items():
            yield from _places(value, (*place, key))
    elif isinstance(found, list) and found and all(isinstance(item, dict) for item in found):
        for index, item in enumerate(found):
            yield from _places(item, (*place, index))
    else:
        yield place
