"""Decide which core comes to which slot of a run: ours, the user's, or a mutant."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from importlib import import_module
from pathlib import Path
from traceback import extract_tb
from typing import Any

from ckptsim.scenarios.dialect import suggestion
from ckptsim.scenarios.errors import UserError
from ckptsim.sim.extras import EXTRAS, ExtraMissing
from ckptsim.sim.kernel.purity import impurities
from ckptsim.sim.slots.cores import OURS, Factory
from ckptsim.sim.slots.guest import CoreUnansweredError, answering
from ckptsim.sim.slots.process import PREFIX, process_factory
from ckptsim.sim.slots.table import SLOTS, slots_of


def name_of(core: Factory | str) -> str:
    """Return `package.module:factory` of a factory, or the text that is that already."""
    if isinstance(core, str):
        return core
    kind = type(core)
    module = getattr(core, "__module__", kind.__module__)
    return f"{module}:{getattr(core, '__qualname__', kind.__qualname__)}"


def source_mark(text: str) -> str:
    """Return a core's name with a mark of its module's source, where that is a file of Python."""
    module = sys.modules.get(text.partition(":")[0])
    path = getattr(module, "__file__", None)
    if text.startswith(PREFIX) or path is None:
        return text
    return f"{text} {blake2b(Path(path).read_bytes(), digest_size=8).hexdigest()}"


def load_factory(slot: str, text: str) -> Factory:
    """Import the factory that `package.module:factory` names. The working directory is searched.

    `process:COMMAND` gives the cores of a program instead, which is started if it does not run yet.

    Raises UserError when the text, the module or the attribute is not as expected, or when the
    module's source shows that its runs would depend on more than the seed.
    """
    if text.startswith(PREFIX):
        return process_factory(slot, text.removeprefix(PREFIX))
    expected = "package.module:factory or process:COMMAND"
    core = f"{slot}={text}"
    return load_callable(f"--core {core}", text, expected=expected, core=f"core {core}")


def load_callable(
    where: str, text: str, *, expected: str = "package.module:function", core: str | None = None
) -> Callable[..., Any]:
    """Import what `package.module:name` names. The working directory is searched.

    where: how an error begins.  core: its name, where it is a core that is imported. Raises
    UserError as `load_factory` does, and CoreUnansweredError for a core with a failing import.
    """
    module_name, colon, attribute = text.partition(":")
    if not colon or not module_name or not attribute:
        raise UserError(f"{where}: found {text!r}, expected {expected}")
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        with answering(f"{core or where}, at its import,"):
            module = import_module(module_name)
    except (ImportError, SyntaxError) as error:  # it could not be read, or needs another module
        raise UserError(f"{where}: {_why_not_imported(module_name, error)}") from error
    except UserError:
        raise
    except Exception as error:
        why = _why_not_imported(module_name, error)
        if core is None:
            raise UserError(f"{where}: {why}") from error
        raise CoreUnansweredError(f"{core}: {why}") from error
    factory = getattr(module, attribute, None)
    if not callable(factory):
        raise UserError(f"{where}: {module_name!r} has no callable {attribute!r}")
    _refuse_impure(where, module_name, getattr(module, "__file__", None))
    found: Callable[..., Any] = factory
    return found


def _why_not_imported(module_name: str, error: Exception) -> str:
    """Tell a module that is not there from one that is, and fails while it is imported."""
    missing = error.name if isinstance(error, ModuleNotFoundError) else None
    if missing is not None and f"{module_name}.".startswith(f"{missing}."):
        return f"found no module {missing!r} in the working directory or among installed packages"
    # After the frame of this module, and without the ones of the import system.
    frames = [frame for frame in extract_tb(error.__traceback__)[1:] if frame.filename[0] != "<"]
    place = f" at {frames[-1].filename}, line {frames[-1].lineno}" if frames else ""
    if isinstance(error, SyntaxError):
        place = ""  # its text has the file and the line
    hint = ""
    if missing is not None and missing.partition(".")[0] in EXTRAS:
        hint = f" ({ExtraMissing(missing.partition('.')[0])})"
    return (
        f"module {module_name!r} is there, but importing it raised {type(error).__name__}{place}: "
        f"{error}{hint}"
    )


def _refuse_impure(where: str, module_name: str, path: str | None) -> None:
    """Raise UserError with every line that reads clocks, random numbers or the order of sets."""
    if path is None or not path.endswith(".py") or not Path(path).is_file():
        # Compiled: the fence and the digests have to do.  Or in an archive that a cluster was sent
        # by a driver, which has looked.
        return
    found = _impurities(path)
    if found:
        places = "\n".join(f"  {impurity}" for impurity in found)
        raise UserError(
            f"{where}: {module_name!r} would not run twice the same; mend these lines, or end them "
            f"with the comment `# pure: REASON`:\n{places}"
        )


@lru_cache(maxsize=16)  # a module is imported once, and read once
def _impurities(path: str) -> tuple[str, ...]:
    return tuple(map(str, impurities(Path(path).read_text(encoding="utf-8"))))


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """The user's cores, checked. factories: slot -> factory. names: slot -> text. mutant: name."""

    factories: Mapping[str, Factory] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    mutant: str | None = None

    @property
    def ours_alone(self) -> bool:
        """Return whether every core is ours."""
        return not self.factories


def resolve(
    *places: str, cores: Mapping[str, Factory | str] | None = None, mutant: str | None = None
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
    """Call every factory once, before anything runs. Raises UserError."""
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
    """Return the one or the main slot of places. where: begins the text of the UserError."""
    slots = slots_of(*places)
    for found in (slots, [slot for slot in slots if slot.is_main]):
        if len(found) == 1:
            return found[0].name
    raise UserError(f"{where}, {expected_slots(places)}")


def _named(places: Sequence[str]) -> str:
    return ", ".join(places) or "these files"
