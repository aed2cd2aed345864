"""Generators of random scenarios, one per link: valid by construction, made of whole numbers.

A generator takes `Choices` and returns a scenario that a right core survives.  Whoever draws keeps
the list of choices: the same list gives the same scenario, a changed list a similar one, and one
with fewer or smaller numbers a simpler one, down to the link's defaults without any fault.
"""

from collections.abc import Callable, Mapping

from ckptsim.scenarios.generators.checkpoint_store import checkpoint_store
from ckptsim.scenarios.generators.choices import Choices
from ckptsim.scenarios.generators.ordering import ordering
from ckptsim.scenarios.spec import Scenario

GENERATORS: Mapping[str, Callable[[Choices], Scenario]] = {
    "ordering": ordering,
    "checkpoint_store": checkpoint_store,
}

__all__ = ["GENERATORS", "Choices", "checkpoint_store", "ordering"]
