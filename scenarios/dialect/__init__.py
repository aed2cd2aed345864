"""How fields read and write their values: kinds of values, tables, composites, units."""

from ckptsim.scenarios.dialect.composites import Many, Nested, OneOf
from ckptsim.scenarios.dialect.kinds import (
    BAD,
    NONE_TEXT,
    At,
    Bad,
    Choice,
    Flag,
    Kind,
    Real,
    Text,
    Whole,
    nothing_renamed,
    suggestion,
)
from ckptsim.scenarios.dialect.literal import printable, shown
from ckptsim.scenarios.dialect.tables import (
    METADATA_KEY,
    Entry,
    Parameter,
    human_table,
    placed,
    plain_table,
    read_keys,
    schema,
)
from ckptsim.scenarios.dialect.units import (
    BYTE_RATE_UNITS,
    DURATION_UNITS,
    SIZE_UNITS,
    parse,
    write,
)

__all__ = [
    "BAD",
    "BYTE_RATE_UNITS",
    "DURATION_UNITS",
    "METADATA_KEY",
    "NONE_TEXT",
    "SIZE_UNITS",
    "At",
    "Bad",
    "Choice",
    "Entry",
    "Flag",
    "Kind",
    "Many",
    "Nested",
    "OneOf",
    "Parameter",
    "Real",
    "Text",
    "Whole",
    "human_table",
    "nothing_renamed",
    "parse",
    "placed",
    "plain_table",
    "printable",
    "read_keys",
    "schema",
    "shown",
    "suggestion",
    "write",
]
