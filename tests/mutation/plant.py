"""Run exploring on cores with a fault in them, in a process of its own. No file is changed.

The process imports the package anew through a finder with one changed syntax tree. So every name
leads to the faulty code: constants, tables and functions that others have imported.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import select
import signal
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.mutation.operators import MODELS, Fault, planted

# A run of a faulty core that takes longer is one that does not end. The ones of right cores take a
# hundredth of it.
RUN_SECONDS_MAX = 10
MEMORY_BYTES_MAX = 2 << 30
# How much longer than on an idle machine a process may take: imports, a busy machine, and runs that
# do not end.
_SLOWER = 20
# Everything that is imported anew: the package, and the tests of its cores.
_OURS = ("ckptsim", "tests")
_OURSELVES = "tests.mutation"
_GRACE_SECONDS = 30 + _SLOWER * RUN_SECONDS_MAX


class EndedError(Exception):
    """A process that ended without an answer."""


class _OverError(Exception):
    """The seconds are over."""


class _Finder(MetaPathFinder, Loader):
    """Finds one module, and makes it of a changed syntax tree."""

    def __init__(self, fault: Fault) -> None:
        self._name = "ckptsim.models." + fault.file.removesuffix(".py").replace("/", ".")
        # Under the name of the file, so that coverage and blame see a core in it.
        self._path = str(MODELS / fault.file)
        self._code = compile(planted(fault), self._path, "exec")

    def find_spec(self, name: str, path: Any, target: Any = None) -> ModuleSpec | None:
        """Return the module's place, if it is the one."""
        if name != self._name:
            return None
        spec = ModuleSpec(name, self, origin=self._path)
        spec.has_location = True
        return spec

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """Let the import system make the module."""
        return None

    def exec_module(self, module: ModuleType) -> None:
        """Run the changed code as the module's."""
        exec(self._code, module.__dict__)


def in_process(work: Callable[[], Any], *, seconds: float) -> Any:
    """Return what a function gives as JSON in a fork of this process.

    Raises EndedError when the fork raises, dies or has not answered in the seconds and some more.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _answer(work, writing)
    os.close(writing)
    try:
        text = _read(reading, _SLOWER * seconds + _GRACE_SECONDS)
    finally:
        os.close(reading)
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    if not text:
        raise EndedError("the process ended without an answer")
    answer = json.loads(text)
    if "raised" in answer:
        raise EndedError(answer["raised"])
    return answer["found"]


def _answer(work: Callable[[], Any], writing: int) -> None:
    """Write what the function gives, or what it raises, and end the process at once.

    Whatever happens here, the fork must not return: it would run its parent's program once more.
    """
    try:
        _write_answer(work, writing)
    finally:
        os._exit(0)


def _write_answer(work: Callable[[], Any], writing: int) -> None:
    limit = _address_space_bytes() + MEMORY_BYTES_MAX
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    try:
        answer = {"found": work()}
    except BaseException as error:  # noqa: BLE001 - whatever it is, the parent has to hear of it
        last = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(last.filename).name}, line {last.lineno}"
        answer = {"raised": f"{where}: {type(error).__name__}: {error}"[:300]}
    with os.fdopen(writing, "w") as pipe:
        json.dump(answer, pipe)


def _address_space_bytes() -> int:
    """Return what the process has mapped already. The parent's memory is in it."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    return pages * resource.getpagesize()


def _read(reading: int, seconds: float) -> str:
    """Return what comes through a pipe until it is closed. Nothing if that takes too long."""
    until = time.monotonic() + seconds
    parts: list[bytes] = []
    while True:
        ready, _, _ = select.select([reading], [], [], max(0.0, until - time.monotonic()))
        if not ready:
            return ""
        part = os.read(reading, 1 << 16)
        if not part:
            return b"".join(parts).decode()
        parts.append(part)


def explore_with(
    fault: Fault | None, link: str, begin: Sequence[Sequence[int]], *, seconds: float, seed: int
) -> dict[str, Any]:
    """Explore a link with a fault in its cores until a property breaks. For a fresh process.

    begin: lists of choices to run first. seconds: of the processor, so that everything that is
    found does not depend on what else the machine does.  Returns `runs`, and of the run that broke
    a property its `number`, the `property` and what it `says`. None each where none did.
    """
    import_anew(fault)
    exploring = import_module("ckptsim.sim.search.explore")
    import_module("ckptsim.sim.search.explore.run").RUN_SECONDS_MAX = RUN_SECONDS_MAX
    corpus = exploring.Corpus([tuple(each) for each in begin])
    began = time.process_time()
    found: list[Any] = []

    def told(report: Any) -> None:
        found[:] = [report]
        if not report.violating and time.process_time() - began >= seconds:
            raise _OverError

    with contextlib.suppress(_OverError):
        explorer, how = exploring.Explorer(link=link), exploring.Exploring(seed=seed)
        exploring.explore(explorer, how, corpus, progress=told)
    (report,) = found
    answer: dict[str, Any] = {"runs": report.runs, "number": None, "property": None, "says": None}
    if report.violating:
        first = report.violating[0]
        row = first.trial.violations[0]
        answer |= {"number": first.number, "property": row.property, "says": row.says[:200]}
    return answer


def tested_with(fault: Fault, folders: Sequence[str]) -> dict[str, Any]:
    """Run the tests of a core with a fault in it. For a fresh process.

    Returns, as `explore_with` does, `runs` and what failed, if anything did.
    """
    import_anew(fault)
    first: list[str] = []

    class Noting:
        """Notes the first test that fails, or that cannot be collected."""

        def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
            """Take the outcome of a test."""
            if report.failed:
                first.append(report.nodeid)

        def pytest_collectreport(self, report: pytest.CollectReport) -> None:
            """Take the outcome of collecting tests."""
            if report.failed:
                first.append(report.nodeid)

    words = ["-q", "-x", "-p", "no:cacheprovider", "-m", "not long", *folders]
    with (
        Path(os.devnull).open("w") as nothing,
        contextlib.redirect_stdout(nothing),
        contextlib.redirect_stderr(nothing),
    ):
        code = pytest.main(words, plugins=[Noting()])
    if not first and code not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        raise RuntimeError(f"pytest ended with {code!r}")
    failed = first[0] if first else None
    return {"runs": 1, "number": None, "property": failed and "its_tests", "says": failed}


def import_anew(fault: Fault | None) -> None:
    """Forget every module of the package, and have the next imports find the faulty one."""
    for name in [name for name in sys.modules if name.partition(".")[0] in _OURS]:
        if not name.startswith(_OURSELVES):
            del sys.modules[name]
    if fault is not None:
        sys.meta_path.insert(0, _Finder(fault))
