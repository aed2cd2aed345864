"""Generators of random scenarios, one per link: valid by construction, made of whole numbers.

A generator takes `Choices` and returns a scenario in which a right core breaks nothing but,
perhaps, what its `violates` names: documented hazards of released systems.  Whoever draws keeps the
list of choices: the same list gives the same scenario, a changed list a similar one, and one with
fewer or smaller numbers a simpler one, down to a plain scenario without any fault.
"""

from collections.abc import Callable, Mapping

from ckptsim.scenarios.generators.barriers import barrier_protocol, barriers
from ckptsim.scenarios.generators.checkpoint_store import checkpoint_store
from ckptsim.scenarios.generators.choices import Choices
from ckptsim.scenarios.generators.composed import composed
from ckptsim.scenarios.generators.final_checkpoint import final_checkpoint
from ckptsim.scenarios.generators.ordering import ordering
from ckptsim.scenarios.generators.rare import varied
from ckptsim.scenarios.spec import Scenario

GENERATORS: Mapping[str, Callable[[Choices], Scenario]] = {
    generate.__name__: varied(generate)
    for generate in (
        ordering,
        barriers,
        barrier_protocol,
        final_checkpoint,
        checkpoint_store,
        composed,
    )
}
# Links whose random scenarios a right core always completes.
COMPLETE: frozenset[str] = frozenset({"ordering", "checkpoint_store", "composed"})

# Links whose random scenarios another link's generator draws, too.
WITHIN_OTHERS: frozenset[str] = frozenset({"barrier_protocol"})

__all__ = [
    "COMPLETE",
    "GENERATORS",
    "WITHIN_OTHERS",
    "Choices",
    "barrier_protocol",
    "barriers",
    "checkpoint_store",
    "composed",
    "final_checkpoint",
    "ordering",
]
