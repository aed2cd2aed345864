"""How the entries of a trace read: the vocabulary that each link's world declares beside its trace.

A trace entry is `(time_ns, kind, entity, *fields)`.  A link's world exports `VOCABULARY`, which
names the fields of each kind and gives the sentence.  From that alone stories are reported,
filtered to one checkpoint, and pictures are drawn. Nothing else has to know a link's entries.

Field names with a meaning everywhere:

* `scope` and `index`: the checkpoint that the entry is about (stream or `*` and index of a source
  state, `job` and id of a barrier checkpoint).  Scope may be missing where there is one only.
* `id`: the partition id, batch or transaction that ties entries to a checkpoint: entries with an id
  that a checkpoint's own entries name belong to its story.
* `to`: the entity that gets what this entry hands over at once. Drawn as an arrow.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from ckptsim.scenarios.dialect import duration_text, in_units, size_text
from ckptsim.sim.kernel import Entry


@dataclass(frozen=True)
class Telling:
    """One kind of entry.

    says: a clause without subject in the present tense, with fields in braces, such as
    `sends state {scope}/{index} of {records} records`.
    fields: the names of the entry's fields, in order, separated by blanks. A name that ends in `*`
    takes all that is left.
    begins, ends: the spans that start or stop here, as `name:field,field`, separated by blanks. The
    fields distinguish spans of one name, `here` being the entity.  One that stops at another entity
    than it started at is a message.
    always: whether every story has it, as crashes and other faults.
    scope: the one of the checkpoint which an entry without a field of this name is about, where a
    run has checkpoints of several kinds.
    """

    says: str
    fields: str = ""
    begins: str = ""
    ends: str = ""
    always: bool = False
    scope: str | None = None

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the fields, in order."""
        return tuple(self.fields.split())

    def named(self, entry: Entry) -> dict[str, object]:
        """Return the fields of an entry of this kind by name.

        Raises ValueError when their number is not the declared one.
        """
        names, values = self.names, entry[3:]
        if names and names[-1].endswith("*"):
            head = len(names) - 1
            values = (*values[:head], " ".join(map(str, values[head:])))
            names = (*names[:head], names[head][:-1])
        named: dict[str, object] = {} if self.scope is None else {"scope": self.scope}
        return named | dict(zip(names, values, strict=True))

    def sentence(self, entry: Entry) -> str:
        """Return the clause with the entry's fields in it. A field that is None reads as "-".

        A name that ends in `_ns` is a duration, and one that ends in `bytes` a size.
        """
        named = {name: _text(name, value) for name, value in self.named(entry).items()}
        return in_units(self.says.format(**named).strip())


def _text(name: str, value: object) -> object:
    if isinstance(value, int) and name.endswith("_ns"):
        return duration_text(value)
    if isinstance(value, int) and name.endswith("bytes"):
        return size_text(value)
    return "-" if value is None else value


Vocabulary = Mapping[str, Telling]


def span_keys(declared: str, named: Mapping[str, object], here: object) -> list[tuple[str, ...]]:
    """Return what distinguishes each declared span from others: its name, the values of its fields.

    here: the entity of the entry.
    """
    known = {**named, "here": here}
    keys: list[tuple[str, ...]] = []
    for span in declared.split():
        name, _, fields = span.partition(":")
        keys.append((name, *(str(known[field]) for field in fields.split(",") if field)))
    return keys
