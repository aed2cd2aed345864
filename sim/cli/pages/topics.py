"""The topics of `ckptsim explain`; whoever has something to explain adds one entry here."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module

from ckptsim.scenarios.links import LINKS


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """What a topic shows: as text for people, as JSON data for programs."""

    text: str
    data: object


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """Something to explain, made only when asked for.

    `maker` is `package.module:function`, a function that returns a Page; it takes nothing, or the
    text `argument` where that is given.
    """

    says: str
    maker: str
    argument: str | None = None


TOPICS: dict[str, Topic] = {
    **{
        link.name: Topic(
            says=f"parameters and faults of {link.says}",
            maker="ckptsim.sim.cli.pages.reference:link_page",
            argument=link.name,
        )
        for link in LINKS.values()
    },
    "final_checkpoint": Topic(
        says="how tasks end: the lifecycle tables that run, parameters and faults",
        maker="ckptsim.sim.cli.pages.protocol_pages:page",
    ),
    "units": Topic(
        says="units of durations, sizes and rates",
        maker="ckptsim.sim.cli.pages.reference:units_page",
    ),
    "slots": Topic(
        says="where a core of yours, or a mutant of ours, can stand: `--core`, `--mutant`",
        maker="ckptsim.sim.cli.pages.protocol_pages:slots_page",
    ),
    "mutants": Topic(
        says="faulty cores that come with the program, and what is wrong with each",
        maker="ckptsim.sim.cli.pages.protocol_pages:mutants_page",
    ),
    "barrier-states": Topic(
        says="state tables of the barrier handlers",
        maker="ckptsim.sim.cli.pages.protocol_pages:states_page",
    ),
    "edges": Topic(
        says="what each kind of edge means for barriers and rescaling",
        maker="ckptsim.sim.cli.pages.protocol_pages:edges_page",
    ),
}


def load_topic(topic: Topic) -> Page:
    """Return the page of a topic."""
    module, _, function = topic.maker.partition(":")
    make = getattr(import_module(module), function)
    page = make() if topic.argument is None else make(topic.argument)
    if not isinstance(page, Page):
        raise TypeError(f"{topic.maker} gives no Page")
    return page
