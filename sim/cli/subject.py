"""The scenario that a command line names, with its parameters, cores and properties."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any

from ckptsim._api.scenario import Origin, wrapped
from ckptsim._api.subject import Source, find_of
from ckptsim._api.subject import subject_of as made_of
from ckptsim._api.sweeps.asked import designs_set
from ckptsim.scenarios import LINKS, Scenario
from ckptsim.scenarios.catalogue import by_name
from ckptsim.scenarios.errors import UserError
from ckptsim.scenarios.files import cost_parameters, load_costs
from ckptsim.scenarios.planning import design_of, with_parameters
from ckptsim.sim.cli.options import refuse
from ckptsim.sim.infer.folder import place_named
from ckptsim.sim.judging import Judging
from ckptsim.sim.own_properties import is_own, own_properties
from ckptsim.sim.recording import is_recording
from ckptsim.sim.search.folder import Kept, is_find
from ckptsim.sim.search.trial import Subject
from ckptsim.sim.world import check_properties, is_property


def each_variant(arguments: argparse.Namespace) -> Iterator[argparse.Namespace]:
    """Yield the arguments of each combination of `--vary`. Raises ScenarioError."""
    from ckptsim.sim.infer.change import read_values

    varied = read_values(arguments.vary)
    for number, values in enumerate(product(*varied.values()), 1):
        words = [f"{path}={value}" for path, value in zip(varied, values, strict=True)]
        own: dict[str, Any] = {"set": [*arguments.set, *words], "vary": []}
        out = getattr(arguments, "out", None)
        if out is not None or arguments.verb == "hunt":  # its default is the same for all
            own["out"] = (out or Path("out", "hunt")) / str(number)
        print(f"{number}: {', '.join(words)}", file=sys.stderr, flush=True)
        yield argparse.Namespace(**vars(arguments) | own)


def subject_of(arguments: argparse.Namespace) -> Subject:
    """Return the scenario that the arguments mean, with its core. Raises UserError."""
    scenario = by_name(arguments.scenario)
    designs, words = designs_set(scenario, arguments.set)
    parameters = parameters_set(scenario, words)
    if arguments.costs is not None:
        measured = cost_parameters(load_costs(arguments.costs), scenario.link)
        scenario = with_parameters(scenario, measured, source=str(arguments.costs))
        parameters = measured | parameters
    if parameters:
        scenario = with_parameters(scenario, parameters, source="--set")
    design = design_of(designs)
    if arguments.mutant is not None and design.mutant not in (None, arguments.mutant):
        raise UserError(f"--mutant: found {arguments.mutant} and {design.mutant}, expected one")
    return made_of(
        wrapped(scenario, Origin(source=arguments.scenario, parameters=parameters)),
        core=[*arguments.core, *(f"{slot}={core}" for slot, core in design.cores.items())],
        mutant=arguments.mutant or design.mutant,
        judging=judging_of(arguments, scenario.link),
    )


def parameters_set(scenario: Scenario, words: Sequence[str]) -> dict[str, object]:
    """Return what `--set` says, by paths of ours. It takes the engine's names, too."""
    if not words:
        return {}
    from ckptsim.sim.infer.change import parameters_of  # with all of a job, which takes a while

    return parameters_of(scenario, words)


def judging_of(arguments: argparse.Namespace, link: str) -> Judging:
    """Return how runs are judged. Raises UserError for unknown names and unusable functions."""
    ignore = tuple(dict.fromkeys(arguments.ignore))
    own = own_of(arguments)
    everywhere = arguments.scenario == "all"
    check_properties("--ignore", ignore, *(LINKS if everywhere else (link,)))
    return Judging(
        ignore=tuple(name for name in ignore if is_property(name, link)),
        properties=own,
        like_ours=getattr(arguments, "like_ours", False),  # not of verbs that judge nothing
    )


def own_of(arguments: argparse.Namespace) -> tuple[str, ...]:
    """Return the properties of the user's. Raises UserError for one that cannot be used."""
    for name in arguments.property:
        if not is_own(name):
            raise UserError(f"--property: found {name!r}, expected package.module:function")
    return tuple(own_properties(arguments.property))


def source_of(arguments: argparse.Namespace) -> Source:
    """Return a scenario, a find, or a recording's folder. Raises UserError."""
    kept = kept_of(arguments)
    if kept is not None:
        return kept
    place = place_named(arguments.scenario)
    if not is_recording(place):
        return subject_of(arguments)
    names = ("set", "core", "mutant")
    given = {f"--{name}": getattr(arguments, name) for name in names}
    refuse(given, "with a recording, expected it with a scenario")
    return place


def kept_of(arguments: argparse.Namespace) -> Kept | None:
    """Return what a folder of `hunt` repeats, None for a scenario. Raises UserError."""
    folder = Path(arguments.scenario)
    if not is_find(folder):
        return None
    names = ("set", "costs", "core", "mutant", "like_ours", "ignore", "property", "seed")
    given = {f"--{name.replace('_', '-')}": getattr(arguments, name, None) for name in names}
    given["--ties"] = arguments.ties != "structural"
    refuse(given, f"together with {folder}, which decides it")
    found, imported = find_of(folder, allowed=arguments.allow_commands)
    for line in imported:
        print(line, file=sys.stderr)
    return found
