"""Decide which core comes to which slot of a run: ours, the user's, or a mutant."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ckptsim.scenarios.dialect import suggestion
from ckptsim.scenarios.errors import UserError
from ckptsim.sim.slots.cores import OURS, Factory
from ckptsim.sim.slots.load import load_factory, name_of
from ckptsim.sim.slots.table import SLOTS, slots_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """The user's cores in place of ours, checked.

    factories: slot -> factory, the mutant's among them. names: slot -> `package.module:factory` of
    the user's. mutant: the mutant's name.
    """

    factories: Mapping[str, Factory] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    mutant: str | None = None

    @property
    def ours_alone(self) -> bool:
        """Return whether every core is ours."""
        return not self.factories


def resolve(
    *places: str,
    cores: Mapping[str, Factory | str] | None = None,
    mutant: str | None = None,
) -> Choice:
    """Return the content of the slots of a link, or of some suites of conformance vectors.

    cores: slot -> factory, or the text `package.module:factory` or `process:COMMAND`. Raises
    UserError for unknown slots and mutants, for a slot that is taken twice, and for factories that
    cannot be imported or give no such core.
    """
    slots = {slot.name: slot for slot in slots_of(*places)}
    factories: dict[str, Factory] = {}
    names: dict[str, str] = {}
    for name, given in (cores or {}).items():
        if name not in slots:
            raise UserError(f"--core: found slot {name!r}, {expected_slots(places, name)}")
        names[name] = name_of(given)
        factory = load_factory(name, given) if isinstance(given, str) else given
        slots[name].check(factory, names[name])
        factories[name] = slots[name].guarded(factory, names[name])
    if mutant is not None:
        from ckptsim.sim.mutants.registry import find_mutant  # noqa: PLC0415 - brings all worlds

        found = find_mutant(places, mutant)
        if found.slot in factories:
            raise UserError(
                f"--mutant {mutant} takes slot {found.slot}, and --core too: expected one of them"
            )
        factories[found.slot] = found.factory
    return Choice(factories=factories, names=names, mutant=mutant)


def expected_slots(places: Sequence[str], name: str = "") -> str:
    """Say which slots a link or suites have, and which of them a misspelt name may mean."""
    names = [slot.name for slot in slots_of(*places)]
    if not names:
        return f"but {_named(places)} has no slots"
    hint = f"{suggestion(name, names)} (`ckptsim explain slots`)"
    return f"expected one of the slots of {_named(places)}: {', '.join(names)}{hint}"


def compared(*places: str) -> list[str]:
    """Return the slots of some places with cores that can be compared with ours."""
    return [slot.name for slot in slots_of(*places) if hasattr(OURS, slot.name)]


def refuse_uncompared(places: Sequence[str], slots: Iterable[str]) -> None:
    """Raise UserError where there is no core that is not ours, or one that cannot be compared."""
    known = compared(*places)
    if not slots:
        expected = f"expected --mutant, or --core with one of {', '.join(known)}"
        raise UserError(f"--like-ours: found no core, {expected}")
    for slot in slots:
        if slot not in known:
            raise UserError(f"--like-ours: found slot {slot!r}, expected {', '.join(known)}")


def try_out(cores: Mapping[str, str], *, fenced: bool = True) -> None:
    """Call every factory once, before anything runs. A run need not come to make every core.

    Raises UserError for a factory that raises or gives no such core.
    """
    for name, text in cores.items():
        SLOTS[name].try_out(load_factory(name, text), text, fenced=fenced)


def read_cores(texts: Sequence[str], places: Sequence[str]) -> dict[str, str]:
    """Read what `--core` was given, `SLOT=package.module:factory` each, as slot -> factory.

    `process:COMMAND` may stand in the factory's place, with blanks and signs of equality.  The slot
    may be left out where the places (a link, or suites) have exactly one together.
    Raises UserError where they have not, and for a slot that is named twice.
    """
    found: dict[str, str] = {}
    for text in texts:
        slot, equals, factory = text.partition("=")
        if not equals or ":" in slot:
            slot = only_slot(places, f"--core: found {text!r} without a slot")
            factory = text
        if slot in found:
            raise UserError(f"--core: found slot {slot!r} twice, expected it once")
        found[slot] = factory
    return found


def only_slot(places: Sequence[str], where: str = "") -> str:
    """Return the one slot of a link, or of some suites, or the main one of several.

    where: begins the text of the UserError where there is no such slot.
    """
    slots = slots_of(*places)
    for found in (slots, [slot for slot in slots if slot.is_main]):
        if len(found) == 1:
            return found[0].name
    raise UserError(f"{where}, {expected_slots(places)}")


def _named(places: Sequence[str]) -> str:
    return ", ".join(places) or "these files"
