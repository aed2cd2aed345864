"""Where a parameter means nothing: declared beside it, and refused or noted there.

The declaration names places of this kind, such as a plane or a pipeline.  In such a place the
parameter has its declared default and no other value.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limit:
    """A place in which a parameter means nothing, and why.

    place, says: the place as a word and in words, such as `records` and `on plane "records"`.
    noted: another value is kept there and noted, as the one of a model moved there. Else refused.
    """

    place: str
    says: str
    because: str
    noted: bool = False


Limits = tuple[Limit, ...]

# Given to a parameter of a table that has limits of its own: the parameter has none.
EVERYWHERE: Limits = ()
