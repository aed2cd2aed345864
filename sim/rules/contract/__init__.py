"""What the effects of a user's core owe by their documented meaning."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Any

from ckptsim.sim.rows import ViolationRow
from ckptsim.sim.rules.beside import Proxy, instead_of
from ckptsim.sim.rules.contract.contract import Contract, CoordinatorContract, OrderingContract
from ckptsim.sim.rules.contract.task import HandlerContract, LifecycleContract, WriterContract
from ckptsim.sim.run_spec import RunSpec, Watch
from ckptsim.sim.slots import Factory, ProtocolCores

KEEPS_CONTRACT = "a_core_keeps_its_contract"
CONTRACTS: Mapping[str, Callable[..., Contract]] = {
    "ordering": OrderingContract,
    "handler": HandlerContract,
    "coordinator": CoordinatorContract,
    "lifecycle": LifecycleContract,
    "channel_state": WriterContract,
}


class Contracts(Watch):
    """Looks on at the user's cores of one run. The first breach of each slot is a violation."""

    def __init__(self) -> None:
        self._found: dict[str, tuple[int, str]] = {}

    def beside(self, cores: ProtocolCores, foreign: Collection[str]) -> ProtocolCores:
        """Return factories that make each core of the user's with its contract beside it."""
        slots = [slot for slot in foreign if slot in CONTRACTS]
        return replace(cores, **{slot: self._factory(slot, getattr(cores, slot)) for slot in slots})

    def rows(self, spec: RunSpec) -> list[ViolationRow]:
        """Return a violation for each slot with a core that broke its contract."""
        return [spec.violation(KEEPS_CONTRACT, at_ns, says) for at_ns, says in self._found.values()]

    def _factory(self, slot: str, factory: Factory) -> Factory:
        def make(*positional: Any, **named: Any) -> Any:
            contract = CONTRACTS[slot](*positional, **named)
            return Bound(factory(*positional, **named), contract, slot, self)

        return instead_of(factory, make)

    def broken(self, slot: str, says: str) -> None:
        """Note that a core of a slot has broken its contract."""
        self._found.setdefault(slot, (self.now_ns, f"core {slot}: {says}"))


class Bound(Proxy):
    """A core as its host sees it, with its contract beside it."""

    __slots__ = ("_contract", "_slot", "_watch")

    def __init__(self, core: Any, contract: Contract, slot: str, watch: Contracts) -> None:
        self._core = core
        self._contract: Contract | None = contract
        self._slot = slot
        self._watch = watch

    def step(self, event: Any) -> Any:
        """Have the core take an event, and look at what it answers. A refusal owes nothing."""
        effects = self._core.step(event)
        if self._contract is not None and isinstance(effects, list | tuple):
            self._contract.take(self._watch.now_ns, event, effects)
            if self._contract.broken is not None:
                self._watch.broken(self._slot, self._contract.broken)
                self._contract = None
        return effects
