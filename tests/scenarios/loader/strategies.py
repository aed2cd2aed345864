"""Hypothesis strategies made from the declarations: valid tables, and arbitrary TOML values."""

from __future__ import annotations

import datetime as dt
import re
from typing import Any

from hypothesis import strategies as st

from ckptsim.scenarios import dialect
from ckptsim.scenarios.fields import NAME_PATTERN

_TEXT = st.characters(exclude_categories=["Cs", "Cc"])


def typed(kind: dialect.Kind) -> st.SearchStrategy[Any]:
    """Return valid typed values of a kind."""
    match kind:
        case dialect.Whole():
            found: st.SearchStrategy[Any] = st.integers(kind.minimum, kind.maximum)
        case dialect.Real():
            found = st.floats(kind.minimum, kind.maximum).map(lambda value: value + 0.0)
        case dialect.Text(pattern=pattern):
            if pattern == NAME_PATTERN:
                found = st.from_regex(re.compile(NAME_PATTERN, re.ASCII), fullmatch=True)
                found = found.map(lambda word: word[:80])
            else:
                found = st.text(_TEXT, max_size=min(20, kind.longest))
        case dialect.Choice():
            words = st.sampled_from(kind.options)
            found = words if kind.members is None else words.map(kind.members)
        case dialect.Flag():
            found = st.booleans()
        case dialect.Nested():
            found = tables(kind.table)
        case dialect.OneOf():
            found = st.one_of([tables(table) for table in kind.tables.values()])
        case dialect.Many():
            most = min(kind.maximum, kind.minimum + 3)
            found = st.lists(typed(kind.item), min_size=kind.minimum, max_size=most).map(tuple)
        case _:
            raise TypeError(kind)
    return st.none() | found if getattr(kind, "optional", False) else found


def tables(table: type[Any]) -> st.SearchStrategy[Any]:
    """Return instances of a table that obey its own checks. Each key at its default or not."""
    fields = {
        entry.name: typed(entry.kind)
        if entry.required
        else st.just(entry.default) | typed(entry.kind)
        for entry in dialect.schema(table)
    }
    made = st.builds(table, **fields)
    return made.filter(lambda one: not one.problems()) if hasattr(table, "problems") else made


def toml_values() -> st.SearchStrategy[Any]:
    """Return anything that a TOML file can hold."""
    single = st.one_of(
        st.booleans(),
        st.integers(),
        st.sampled_from([10**30, -(10**30), 1 << 63, 0, -1]),
        st.floats(),
        st.text(_TEXT, max_size=12),
        st.sampled_from(["1 s", "none", "32 KiB", "20 MB/s", "25 %", "1e9 s", "structural"]),
        st.datetimes(timezones=st.just(dt.UTC)),
        st.dates(),
        st.times(),
    )
    return st.recursive(
        single,
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.dictionaries(st.text(_TEXT, max_size=8), inner, max_size=4)
        ),
        max_leaves=12,
    )
