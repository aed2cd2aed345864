"""Scenarios (a model and its faults) and their links."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from ckptsim.scenarios.dialect import nothing_renamed


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """One link of the chain: which parameters its scenarios have and which faults it knows.

    key: the table that holds the model in a scenario file, such as `sync`.
    model: the dataclass of the model's parameters.
    faults: kind -> dataclass of every fault that may strike it. One that names parts of the model
        has `problems_in(model) -> list[Problem]`, with paths relative to the fault.
    goals, properties: the names that a scenario may ask for, each property with its sentence.
    defaults: paths inside the model -> defaults of this link's own, such as
        `checkpointing.interval_ns`. The others come from the dataclasses.
    renamed: the replacement of an old key, by its path.
    costs: path of the parameters that are costs of a store's steps, None where there is no store.
    """

    name: str
    says: str
    key: str
    model: type
    faults: Mapping[str, type] = field(default_factory=dict)
    goals: tuple[str, ...] = ()
    properties: Mapping[str, str] = field(default_factory=dict)
    costs: str | None = None
    defaults: Mapping[str, object] = field(default_factory=dict)
    renamed: Callable[[str], str | None] = nothing_renamed


@runtime_checkable
class Placed(Protocol):
    """A model that may be run by the world of another link than its scenario's."""

    def world_of(self, link: str) -> str:
        """Return the link that runs it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """One scenario. Everything that decides a run except seed and tie policy.

    goals: "sometimes" situations that some run of this scenario must reach.
    violates: properties that an anti-pattern is expected to break. None for a sound design.
    model: an instance of the link's model dataclass.
    faults: instances of the link's fault dataclasses, in the order of the file.
    """

    name: str
    link: str
    says: str
    goals: tuple[str, ...] = ()
    violates: tuple[str, ...] = ()
    model: object
    faults: tuple[object, ...] = ()

    @property
    def world(self) -> str:
        """The link that runs the scenario: another one's where its model says so."""
        if not isinstance(self.model, Placed):
            return self.link
        return self.model.world_of(self.link)
