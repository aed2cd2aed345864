"""Generators of random scenarios, one per link: valid by construction, made of whole numbers.

A generator takes `Choices` and returns a scenario in which a right core breaks nothing but,
perhaps, what its `violates` names: documented hazards of released systems.  Anyone who draws keeps
the list of choices: the same list gives the same scenario, and a changed list a similar one. Fewer
or smaller numbers give a simpler one, down to a plain scenario without any fault.
"""

from collections.abc import Callable, Mapping

from ckptsim.scenarios.generators.choices import Choices as Choices
from ckptsim.scenarios.generators.jobs import job
from ckptsim.scenarios.generators.options import varied
from ckptsim.scenarios.generators.pipelines import composed as composed
from ckptsim.scenarios.generators.pipelines import uncoordinated
from ckptsim.scenarios.generators.syncs import checkpoint_store as checkpoint_store
from ckptsim.scenarios.generators.syncs import ordering as ordering
from ckptsim.scenarios.spec import Scenario


def barriers(choices: Choices) -> Scenario:
    """Return a random job for all that has to do with barriers, more often on buffers."""
    kinds = ("buffers", "records", "buffers", "alone", "records")
    kind = "records" if choices.wanted else choices.of(kinds)
    if kind == "alone":
        return uncoordinated(choices)
    return job(choices, "barriers" if kind == "buffers" else "barrier_protocol", kind)


def barrier_protocol(choices: Choices) -> Scenario:
    """Return a random job on records, in which some tasks take checkpoints by themselves."""
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
# Links in which a right core completes every random scenario.
COMPLETE: frozenset[str] = frozenset({"ordering", "checkpoint_store", "composed"})

# Links with random scenarios from the generator of another link.
WITHIN_OTHERS: frozenset[str] = frozenset({"barrier_protocol"})
