"""How the entries of a trace read: the vocabulary that each link's world declares beside its trace.

A trace entry is `(time_ns, kind, entity, *fields)`.  A link's world exports `VOCABULARY`, which
names the fields of each kind and gives the sentence.  From that alone stories are told, filtered to
one checkpoint, and pictures are drawn; nothing else has to know a link's entries.

Field names with a meaning everywhere:

* `scope` and `index`: the checkpoint that the entry is about (stream or `*` and index of a source
  state; job and id of a barrier checkpoint).  Scope may be missing where there is one only.
* `id`: the partition id, batch or transaction that ties entries to a checkpoint; entries with an id
  that a checkpoint's own entries name belong to its story.
* `to`: the entity that receives what this entry sends; drawn as an arrow.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sim.kernel import Entry


@dataclass(frozen=True, slots=True)
class Telling:
    """One kind of entry.

    says: a clause without subject in the present tense, with fields in braces, such as
    `sends state {scope}/{index} of {records} records`.
    fields: the names of the entry's fields, in order, separated by blanks.
    begins, ends: the name of a span that starts or stops here, such as `upload`; spans of one
    entity and name are told apart by the fields `scope`, `index` and `id`.
    """

    says: str
    fields: str = ""
    begins: str = ""
    ends: str = ""

    def named(self, entry: Entry) -> dict[str, object]:
        """Return the fields of an entry of this kind by name."""
        return dict(zip(self.fields.split(), entry[3:], strict=True))


Vocabulary = Mapping[str, Telling]
