"""One slot: what it is for, how its factory is called, and what the factory has to give."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from functools import wraps
from importlib import import_module
from typing import Any, get_type_hints

from ckptsim.scenarios.errors import UserError
from ckptsim.sim.kernel import fence
from ckptsim.sim.slots.cores import Factory, fitting
from ckptsim.sim.slots.guest import answering
from ckptsim.sim.slots.process import CoreFailedError, ProcessCore
from ckptsim.sim.slots.protocols import members, used


@dataclass(frozen=True, slots=True)
class Call:
    """Arguments with which a factory is tried before a run."""

    positional: tuple[Any, ...] = ()
    named: dict[str, Any] | None = None

    def of(self, factory: Factory) -> Any:
        """Call the factory."""
        return factory(*self.positional, **(self.named or {}))

    def fits(self, factory: Factory) -> str | None:
        """Say why the factory cannot be called so, or None when it can."""
        try:
            signature = inspect.signature(factory)
        except (TypeError, ValueError):  # of a built-in: calling it will tell
            return None
        try:
            signature.bind(*self.positional, **(self.named or {}))
        except TypeError as error:
            return str(error)
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """A place that a core can take.

    says: what the core decides. takes, gives: parameters and result of the factory, as text.
    ours: `package.module:name` of the factory by default, the class of the result unless `gives`
    names another.
    links, suites: the worlds and the suites of conformance vectors that have the slot.
    whole: a core with a documented door of its own. The others are parts of a core or of a world,
    replaced by what subclasses ours.
    sample: makes arguments to try a factory with. None where only a world can make them, and the
    factory is a subclass of ours.
    protocol: everything that hosts ask of the core. of: the class of ours that the result must be.
    is_rule: the factory is a function that decides, called all through a run, and makes no core.
    is_main: of the slots of a link, the one that a core without the name of a slot takes.
    close: gives back what a core that was only tried holds.
    """

    name: str
    says: str
    takes: str
    ours: str
    gives: str = ""
    links: tuple[str, ...] = ()
    suites: tuple[str, ...] = ()
    whole: bool = False
    sample: Callable[[], Call] | None = None
    protocol: type | None = None
    of: type | None = None
    is_rule: bool = False
    is_main: bool = False
    close: Callable[[Any], None] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "gives", self.gives or self.ours.rpartition(":")[2])

    @property
    def places(self) -> tuple[str, ...]:
        """Name the links and suites that have the slot."""
        return (*self.links, *(f"suite {name}" for name in self.suites))

    @property
    def offers(self) -> tuple[str, ...]:
        """Name what hosts ask of the core."""
        return () if self.protocol is None else tuple(members(self.protocol))

    def check(self, factory: object, name: str) -> None:
        """Refuse, with UserError, what cannot be called as a factory of this slot."""
        where = self._where(name)
        if not callable(factory):
            raise UserError(f"{where}: found {factory!r}, expected {self.takes} -> {self.gives}")
        if self.sample is None:
            self._check_class(factory, where)
            return
        unfit = self.sample().fits(fitting(self.name, factory))
        if unfit is not None:
            raise UserError(f"{where}: must accept {self.takes}: {unfit}")

    def try_out(self, factory: Factory, name: str, *, fenced: bool) -> None:
        """Call a factory once with arguments as a world gives, and look at what it makes.

        fenced: as in a run. Real stores, which vectors may drive, need what the fence forbids.
        Raises UserError when it raises, or gives no such core.
        """
        if self.sample is None:
            return
        core = f"core {self.name}={name}"
        with answering(core), fence() if fenced else nullcontext():
            made = self.sample().of(self.guarded(factory, name))
            if isinstance(made, ProcessCore):  # a program is asked once, not whenever it makes one
                self._check_made(made, self._where(name))
            if self.close is not None:
                self.close(made)

    def guarded(self, factory: Factory, name: str) -> Factory:
        """Return the factory with what it makes looked at. A rule is left as it is."""
        if self.sample is None or self.is_rule:
            return factory
        where, fitted = self._where(name), fitting(self.name, factory)

        @wraps(factory)
        def make(*positional: Any, **named: Any) -> Any:
            try:
                made = fitted(*positional, **named)
            except Exception as error:
                raise UserError(
                    f"{where}: the factory raised {type(error).__name__}: {error}"
                ) from error
            if not isinstance(made, ProcessCore):
                self._check_made(made, where)
            return made

        return make

    def _where(self, name: str) -> str:
        return f"--core {self.name}={name}"

    def default(self) -> Factory:
        """Import our factory."""
        module, _, name = self.ours.partition(":")
        factory: Factory = getattr(import_module(module), name)
        return factory

    def _check_class(self, factory: Factory, where: str) -> None:
        ours = self.default()
        if isinstance(factory, type) and isinstance(ours, type) and issubclass(factory, ours):
            return
        raise UserError(f"{where}: found {factory!r}, expected a subclass of {self.gives}")

    def _check_made(self, made: object, where: str) -> None:
        missing = [] if self.protocol is None else _lacks(self.protocol, made)
        if missing:
            found = f"the factory gave {type(made).__name__}, expected {self.gives}"
            raise UserError(f"{where}: {found}: it {'; '.join(missing)} (`ckptsim explain slots`)")
        if self.of is not None and not isinstance(made, self.of):
            raise UserError(
                f"{where}: the factory gave {type(made).__name__}, expected {self.gives}"
            )


def _lacks(protocol: type, core: object) -> list[str]:
    found = []
    for name, member in members(protocol).items():
        try:
            part = getattr(core, name)
        except (AttributeError, CoreFailedError) as error:
            why = f" ({error})" if isinstance(error, CoreFailedError) else ""
            found.append(f"must have `{name}`, {used(protocol, name)}{why}")
            if why:
                break  # the program has ended
            continue
        except Exception:  # noqa: BLE001, S112 - it is there; in a run the core is convicted
            continue
        kind = get_type_hints(member.fget)["return"] if isinstance(member, property) else None
        if isinstance(kind, type) and getattr(kind, "_is_protocol", False):
            found += [each.replace("`", f"`{name}.", 1) for each in _lacks(kind, part)]
    return found
