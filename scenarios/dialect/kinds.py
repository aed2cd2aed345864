"""Kinds of single values: how each is read from a file, checked, written and described.

A value has three forms: the typed one of the program, the plain one of JSON in base units, and the
one that people write (`"1 s"`).  `read` takes the last two, so that everything a kind writes can be
read again.
"""

from __future__ import annotations

import difflib
import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction

from ckptsim.scenarios.dialect import units
from ckptsim.scenarios.dialect.units import shown
from ckptsim.scenarios.errors import Problem

NONE_TEXT = "none"
_ALIKE = 0.6  # the usual measure of `difflib` for a close match
_LISTED = 12  # names that a sentence lists at most
_SURROGATE = re.compile("[\ud800-\udfff]")  # undecodable bytes of a command line. No TOML has them


class Bad:
    """The outcome of reading a value that was refused. The problem has been noted."""


BAD = Bad()


def nothing_renamed(_path: str) -> str | None:
    """Know of no old key."""
    return None


@dataclass(frozen=True, slots=True)
class At:
    """A place in the user's input with its list of problems. renamed: old keys or values."""

    source: str
    path: str
    problems: list[Problem]
    renamed: Callable[[str], str | None] = nothing_renamed

    def key(self, name: str) -> At:
        """Return the place of a key of this table."""
        safe = name if re.fullmatch(r"[A-Za-z0-9_-]{1,60}", name) else shown(name)
        path = f"{self.path}.{safe}" if self.path else safe
        # Not by `replace`, which takes three times as long: every key that is read has its place.
        return At(self.source, path, self.problems, self.renamed)

    def item(self, index: int) -> At:
        """Return the place of an item of this array."""
        return replace(self, path=f"{self.path}[{index}]")

    def refuse(self, found: object, expected: str) -> Bad:
        """Note an unexpected value."""
        return self.note(shown(found), expected)

    def refuse_key(self, value: object, expected: str) -> Bad:
        """Note that the key of this place is not known, or old, and so the old ones inside."""
        new = self.renamed(self.path)
        if new is None:
            return self.note("an unknown key", expected)
        self.note("an old key", new)
        self.refuse_inside(value)
        return BAD

    def refuse_inside(self, value: object) -> None:
        """Note the old keys in the value of an old one, except for those that keep their name."""
        for index, item in enumerate(value if isinstance(value, list) else ()):
            self.item(index).refuse_inside(item)
        for key, inner in value.items() if isinstance(value, Mapping) else ():
            place = self.key(str(key))
            new = self.renamed(place.path)
            if new is None or new.endswith(f".{key}"):
                place.refuse_inside(inner)
            else:
                place.refuse_key(inner, "")

    def note(self, found: str, expected: str) -> Bad:
        """Note a problem with a ready text."""
        full = f"{self.source}: {self.path}" if self.path else self.source
        self.problems.append(Problem(full, found, expected))
        return BAD


def suggestion(word: str, known: Iterable[str]) -> str:
    """Return `, did you mean "x"?` for a word like a known one, with parts in any order."""
    asked = word[:80]
    best, name = max(((_likeness(asked, one), one) for one in sorted(known)), default=(0.0, ""))
    return f', did you mean "{name}"?' if best >= _ALIKE else ""


def _likeness(asked: str, name: str) -> float:
    """Return how alike two names are, from 0 to 1: as they stand, and with their parts in order."""
    matcher = difflib.SequenceMatcher(b=name.lower())
    matcher.set_seq1(asked.lower())
    as_it_stands = matcher.ratio()
    parts, own = _parts(asked), _parts(name)
    matcher.set_seqs(" ".join(parts), " ".join(own))
    in_order = matcher.ratio() if len(parts) > 1 < len(own) else 0.0
    # All that was asked for is there: the likelier, the less there is besides.
    inside = _ALIKE + matcher.ratio() / 10 if len(asked) > 2 and set(parts) <= set(own) else 0.0
    return max(as_it_stands, in_order, inside)


def _parts(name: str) -> list[str]:
    return sorted(re.split(r"[^a-z0-9]+", name.lower()))


def one_of(asked: str, known: Iterable[str]) -> str:
    """Return the expectation for an unknown name: the known ones, and the likeliest."""
    names = list(dict.fromkeys(known))
    listed = ", ".join(f'"{name}"' for name in names[:_LISTED])
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return f"one of {listed}{more}{suggestion(asked, names)}"


Defaults = tuple[tuple[str, object], ...]
"""Pairs of a path, as `ckptsim explain` prints it, and the default of the parameter there.

Paths begin inside a value: `.interval_ns` in a table, `[].name` in an array, `(fixed).delay_ns` in
a table of one of several kinds.
"""


class Kind(ABC):
    """What a parameter may hold."""

    __slots__ = ()

    @property
    def unit(self) -> str:
        """The unit of the plain form in words, if it has one."""
        return ""

    @property
    def mark(self) -> str:
        """How the name of a field of this kind shows its unit, such as `_ns`, if it does."""
        return ""

    @abstractmethod
    def read(self, found: object, at: At) -> object:
        """Return the typed value, or BAD after noting the problem."""

    @abstractmethod
    def expected(self) -> str:
        """Return in words what may stand here."""

    @abstractmethod
    def plain(self, value: object) -> object:
        """Return the value as JSON data in base units."""

    def human(self, value: object) -> object:
        """Return the value as people write it in a file. By default the plain form."""
        return self.plain(value)

    def bounds(self) -> str:
        """Return the permitted range in words, or nothing where all values of the type are."""
        return ""

    def with_defaults(self, _defaults: Defaults) -> Kind:
        """Return the kind with other defaults of parameters inside its values."""
        return self


@dataclass(frozen=True, slots=True, kw_only=True)
class Whole(Kind):
    """A whole number with bounds, optionally absent, optionally written with a unit."""

    minimum: int
    maximum: int
    unit: str = ""
    mark: str = ""  # how a field's name shows the unit
    optional: bool = False
    scale: Mapping[str, int] | None = None
    example: str = ""

    def read(self, found: object, at: At) -> object:
        """Take an integer in the base unit, a text with a unit, or `none` where that is allowed."""
        if self.optional and found == NONE_TEXT:
            return None
        value = found
        if isinstance(found, str) and self.scale is not None:
            value = units.parse(found, self.scale)
        if isinstance(value, bool) or not isinstance(value, int):
            return at.refuse(found, self.expected())
        if not self.minimum <= value <= self.maximum:
            return at.refuse(found, self.expected())
        return value

    def expected(self) -> str:
        """Return in words what may stand here."""
        what = f"a whole number of {self.unit}" if self.unit else "a whole number"
        if self.scale is not None:
            what += f' or a text such as "{self.example}"'
        return f"{what}, {self.bounds()}" + (f', or "{NONE_TEXT}"' if self.optional else "")

    def bounds(self) -> str:
        """Return the permitted range."""
        return f"{self._show(self.minimum)} to {self._show(self.maximum)}"

    def plain(self, value: object) -> object:
        """Return the integer, or the word for absence."""
        return NONE_TEXT if value is None else value

    def human(self, value: object) -> object:
        """Return the quantity with its unit."""
        return self._show(value) if isinstance(value, int) else NONE_TEXT

    def _show(self, value: int) -> object:
        return value if self.scale is None else units.write(value, self.scale)


@dataclass(frozen=True, slots=True, kw_only=True)
class Real(Kind):
    """A finite number with bounds, optionally absent or written as `"25 %"` or `"5 /s"`."""

    minimum: float
    maximum: float
    unit: str = ""
    mark: str = ""  # how a field's name shows the unit
    optional: bool = False
    suffixes: Mapping[str, int] | None = None  # suffix -> divisor
    example: str = ""

    def read(self, found: object, at: At) -> object:
        """Take an integer or a float, a text with a suffix, or `none` where that is allowed."""
        if self.optional and found == NONE_TEXT:
            return None
        value = self._with_suffix(found) if isinstance(found, str) else found
        if isinstance(value, bool) or not isinstance(value, int | float):
            return at.refuse(found, self.expected())
        if not self.minimum <= value <= self.maximum or not math.isfinite(value):
            return at.refuse(found, self.expected())
        return float(value) + 0.0

    def expected(self) -> str:
        """Return in words what may stand here."""
        what = f"a number ({self.unit})" if self.unit else "a number"
        if self.suffixes is not None:
            what += f' or a text such as "{self.example}"'
        return f"{what}, {self.bounds()}" + (f', or "{NONE_TEXT}"' if self.optional else "")

    def bounds(self) -> str:
        """Return the permitted range."""
        return f"{self.minimum:g} to {self.maximum:g}"

    def plain(self, value: object) -> object:
        """Return the float, or the word for absence."""
        return NONE_TEXT if value is None else value

    def _with_suffix(self, text: str) -> float | None:
        for suffix, divisor in (self.suffixes or {}).items():
            number = text.strip().removesuffix(suffix).rstrip()
            if text.strip().endswith(suffix) and re.fullmatch(r"\d{1,30}(\.\d{1,30})?", number):
                return float(Fraction(number) / divisor)
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Text(Kind):
    """A text that matches a pattern as a whole."""

    pattern: str
    says: str
    longest: int

    def read(self, found: object, at: At) -> object:
        """Take a text."""
        if not isinstance(found, str) or len(found) > self.longest:
            return at.refuse(found, self.expected())
        if re.fullmatch(self.pattern, found, re.ASCII) is None or _SURROGATE.search(found):
            return at.refuse(found, self.expected())
        return found

    def expected(self) -> str:
        """Return in words what may stand here."""
        return f"{self.says} of at most {self.longest} characters"

    def plain(self, value: object) -> object:
        """Return the text."""
        return value


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice(Kind):
    """One of a few words. The typed form is a member of `members` where that is given."""

    options: Sequence[str]
    members: type[StrEnum] | None = None

    def read(self, found: object, at: At) -> object:
        """Take one of the words."""
        if not isinstance(found, str) or found not in self.options:
            if not isinstance(found, str):
                return at.refuse(found, self.expected())
            new = at.renamed(f"{at.path}={found}")
            hint = suggestion(found, self.options) if new is None else f"; now {new}"
            return at.refuse(found, self.expected() + hint)
        return found if self.members is None else self.members(found)

    def expected(self) -> str:
        """Return in words what may stand here."""
        return "one of " + ", ".join(f'"{option}"' for option in self.options)

    def bounds(self) -> str:
        """Return the words."""
        return " | ".join(self.options)

    def plain(self, value: object) -> object:
        """Return the word."""
        return str(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Flag(Kind):
    """True or false, optionally absent."""

    optional: bool = False

    def read(self, found: object, at: At) -> object:
        """Take a boolean, or `none` where that is allowed."""
        if self.optional and found == NONE_TEXT:
            return None
        return found if isinstance(found, bool) else at.refuse(found, self.expected())

    def expected(self) -> str:
        """Return in words what may stand here."""
        return "true or false" + (f', or "{NONE_TEXT}"' if self.optional else "")

    def bounds(self) -> str:
        """Return both values."""
        return "true | false"

    def plain(self, value: object) -> object:
        """Return the boolean, or the word for absence."""
        return NONE_TEXT if value is None else value
