"""Generators of random scenarios, one per link: valid by construction, made of whole numbers.

A generator takes `Choices` and returns a scenario in which a right core breaks nothing but,
perhaps, what its `violates` names: documented hazards of released systems.  Whoever draws keeps the
list of choices: the same list gives the same scenario, a changed list a similar one, and one with
fewer or smaller numbers a simpler one, down to a plain scenario without any fault.
"""

from collections.abc import Callable, Mapping

from ckptsim.scenarios.generators.choices import Choices
from ckptsim.scenarios.generators.jobs import job
from ckptsim.scenarios.generators.options import varied
from ckptsim.scenarios.generators.pipelines import composed
from ckptsim.scenarios.generators.stores import checkpoint_store
from ckptsim.scenarios.generators.syncs import ordering
from ckptsim.scenarios.generators.uncoordinated import uncoordinated
from ckptsim.scenarios.spec import Scenario


def barriers(choices: Choices) -> Scenario:
    """Return a random job for all that has to do with barriers, more often on buffers."""
    kinds = ("buffers", "records", "buffers", "alone", "records")
    kind = "records" if choices.wanted else choices.of(kinds)
    if kind == "alone":
        return uncoordinated(choices)
    return job(choices, "barriers" if kind == "buffers" else "barrier_protocol", kind)


def barrier_protocol(choices: Choices) -> Scenario:
    """Return a random job on records, some of whose tasks take checkpoints by themselves."""
    alone = not choices.wanted and choices.integer(0, 4) == 4
    return uncoordinated(choices) if alone else job(choices, "barrier_protocol", "records")


def final_checkpoint(choices: Choices) -> Scenario:
    """Return a random job, most often on records, where it is cheaper."""
    planes = ("records", "records", "buffers")
    plane = "records" if choices.wanted else choices.of(planes)
    return job(choices, "final_checkpoint", plane)


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
