"""ckptsim: a deterministic discrete-event simulator of checkpoint protocols of data pipelines.

    import ckptsim as ck

    job = ck.load("job.toml")                          # a scenario: read it, change it
    result = ck.run(job, seed=7)                       # one run: rows, goals, violations
    report = ck.check(job, seeds=500)                  # many seeds and tie orders
    swept = ck.sweep(job, vary={"interval": ["2 s", "5 s"]}, seeds=5)

Every verb of the command line is a function of the same name. `docs/python.md` has worked examples.
Importing this module costs next to nothing: each name of `__init__.pyi` is imported from the module
that has it when it is first used, and so is what it needs (SimPy for runs. The extra `sweeps` for
sweeps and frames).
"""

import re
from importlib import import_module

__version__ = "0.2.0"


def _homes():
    """Return public name -> the module that has it, as type checkers and editors read them."""
    # The loader reads from an archive as well, such as the one that Spark ships.
    stub = __spec__.loader.get_data(f"{__file__}i").decode()
    found = re.findall(r"^from (\S+) import (\w+) as", stub, re.MULTILINE)
    return {name: module for module, name in found}


_HOMES = _homes()
__all__ = sorted([*_HOMES, "__version__"])  # noqa: PLE0605 - the stub has them for checkers


def __getattr__(name):
    """Import a public name when it is first asked for (PEP 562)."""
    if name not in _HOMES:
        raise AttributeError(f"module 'ckptsim' has no attribute {name!r}")
    module = _HOMES[name]
    if module == __name__:  # a part of the package
        return import_module(f"{module}.{name}")
    found = globals()[name] = getattr(import_module(module), name)
    return found


def __dir__():
    """Name what `ckptsim` has to offer, whether it was imported already or not."""
    return sorted(__all__)
