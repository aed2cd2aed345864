"""Load a user's own implementation, named as `package.module:factory`."""

from __future__ import annotations

import sys
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import cast

from ckptsim.scenarios.errors import UserError
from ckptsim.sim.kernel.purity import impurities
from ckptsim.sim.slots.cores import Factory


def name_of(core: Factory | str) -> str:
    """Return `package.module:factory` of a factory, or the text that is that already."""
    if isinstance(core, str):
        return core
    kind = type(core)
    module = getattr(core, "__module__", kind.__module__)
    return f"{module}:{getattr(core, '__qualname__', kind.__qualname__)}"


def load_factory(slot: str, text: str) -> Factory:
    """Import the factory that `package.module:factory` names; the working directory is searched.

    Raises UserError when the text, the module or the attribute is not as expected, or when the
    module's source shows that its runs would depend on more than the seed.
    """
    where = f"--core {slot}={text}"
    module_name, colon, attribute = text.partition(":")
    if not colon or not module_name or not attribute:
        raise UserError(f"{where}: found {text!r}, expected package.module:factory")
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        module = import_module(module_name)
    except ImportError as error:
        raise UserError(f"{where}: cannot import {module_name!r}: {error}") from error
    except Exception as error:
        raise UserError(
            f"{where}: importing {module_name!r} raised {type(error).__name__}: {error}"
        ) from error
    factory = getattr(module, attribute, None)
    if not callable(factory):
        raise UserError(f"{where}: {module_name!r} has no callable {attribute!r}")
    _refuse_impure(where, module_name, getattr(module, "__file__", None))
    return cast("Factory", factory)


def _refuse_impure(where: str, module_name: str, path: str | None) -> None:
    """Raise UserError with every line that reads clocks, random numbers or the order of sets."""
    if path is None or not path.endswith(".py"):
        return  # compiled: the fence and the digests have to do
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
