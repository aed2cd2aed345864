"""Load a user's own implementation named on the command line as `package.module:factory`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from ckptsim.scenarios.errors import UserError
from ckptsim.sim.kernel.purity import impurities


def load_factory(spec: str) -> Callable[..., Any]:
    """Import the factory that `package.module:factory` names; the working directory is searched.

    Raises UserError when the text, the module or the attribute is not as expected, or when the
    module's source shows that its runs would depend on more than the seed.
    """
    module_name, colon, attribute = spec.partition(":")
    if not colon or not module_name or not attribute:
        raise UserError(f"--core: found {spec!r}, expected package.module:factory")
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        module = import_module(module_name)
    except ImportError as error:
        raise UserError(f"--core: cannot import {module_name!r}: {error}") from error
    factory = getattr(module, attribute, None)
    if not callable(factory):
        raise UserError(f"--core: {module_name!r} has no callable {attribute!r}")
    _refuse_impure(module_name, getattr(module, "__file__", None))
    return factory  # type: ignore[no-any-return]


def _refuse_impure(module_name: str, path: str | None) -> None:
    """Raise UserError with every line that reads clocks, random numbers or the order of sets."""
    if path is None or not path.endswith(".py"):
        return  # compiled: the fence and the digests have to do
    found = impurities(Path(path).read_text(encoding="utf-8"))
    if found:
        places = "\n".join(f"  {impurity}" for impurity in found)
        raise UserError(
            f"--core: {module_name!r} would not run twice the same; mend these lines, or end them "
            f"with the comment `# pure: REASON`:\n{places}"
        )
