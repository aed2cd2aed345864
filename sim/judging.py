"""How a run is judged beside the properties of its link, as one value that all verbs hand on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ckptsim.sim.own_properties import Function
from ckptsim.sim.slots.resolve import name_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Judging:
    """What of a run is judged.

    ignore: properties of the link that are not.  properties: the user's own, functions of the
    ground truth of a run, or `package.module:function`.  like_ours: whether a core that is not ours
    must do exactly as ours does.
    """

    ignore: tuple[str, ...] = ()
    properties: tuple[Function | str, ...] = ()
    like_ours: bool = False

    @property
    def property_names(self) -> list[str]:
        """Return `package.module:function` of the user's properties."""
        return [name_of(each) for each in self.properties]

    @property
    def words(self) -> list[str]:
        """Return the words with which a command judges in the same way."""
        found = [word for name in self.ignore for word in ("--ignore", name)]
        found += [word for name in self.property_names for word in ("--property", name)]
        return [*found, "--like-ours"] if self.like_ours else found

    @property
    def document(self) -> dict[str, Any]:
        """Return it as JSON data, which has names in the place of functions."""
        return {
            "like_ours": self.like_ours,
            "ignore": list(self.ignore),
            "properties": self.property_names,
        }


AS_USUAL = Judging()
