"""Try faults one by one, each in a process of its own, and keep the results in a file."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from tests.mutation.operators import Fault, faults_of, files
from tests.mutation.plant import EndedError, explore_with, in_process, tested_with
from tests.mutation.reach import Reach

# Which links run a core, the one that uses it most first.
LINKS: dict[str, tuple[str, ...]] = {
    "acknowledger.py": ("barrier_protocol", "final_checkpoint"),
    "barriers": ("final_checkpoint", "barriers"),
    "committer.py": ("barrier_protocol", "final_checkpoint"),
    "coordinator": ("final_checkpoint", "barriers"),
    "core.py": ("ordering",),
    "enumerator.py": ("barrier_protocol", "final_checkpoint"),
    "lifecycle": ("final_checkpoint",),
    "ordering": ("ordering",),
    "recovery": ("final_checkpoint", "barriers"),
    "shared_state.py": ("barrier_protocol", "final_checkpoint"),
    "store": ("checkpoint_store",),
    "uncoordinated": ("final_checkpoint",),
}
# The tests of cores by the beginnings of their files, the first that fits: they are tried on what
# exploring has not found.
TESTS: dict[str, tuple[str, ...]] = {
    "acknowledger.py": ("tests/situations/test_acknowledger.py",),
    "barriers/handler": ("tests/barriers/handler",),
    "barriers/channel_state": ("tests/barriers/test_writer.py",),
    "barriers/channels": ("tests/barriers/task",),
    "barriers/subtask": ("tests/barriers/task",),
    "barriers": ("tests/barriers",),
    "committer.py": ("tests/situations/test_committer.py",),
    "coordinator": ("tests/barriers/coordinator", "tests/barriers/test_debloater.py"),
    "core.py": ("tests/ordering/test_refusals.py",),
    "enumerator.py": ("tests/situations/test_enumerator.py",),
    "lifecycle": ("tests/lifecycle",),
    "ordering": ("tests/ordering",),
    "recovery": ("tests/recovery",),
    "shared_state.py": ("tests/situations/test_shared_state.py",),
    "store": ("tests/store/core",),
    "uncoordinated": (
        "tests/uncoordinated/test_recovery_line.py",
        "tests/uncoordinated/test_tasks.py",
    ),
}
VECTORS = "tests/conform/test_vectors.py"
# How much longer than exploring a fault the tests of its core may take. An assumption.
_TESTS_SECONDS = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What came of one fault.

    reached: whether a scenario known beforehand runs the fault's lines. broken: the property, or
    how the process ended. None for a survivor.  runs, seconds: until then.
    """

    key: tuple[str, str, str, str, str, int]
    reached: bool
    link: str
    broken: str | None
    says: str | None
    runs: int
    seconds: float

    @property
    def convicted(self) -> bool:
        """Return whether exploring, or a test of the core, found the fault."""
        return self.broken is not None


def chosen(cores: Sequence[str], part: str, sample: int | None, seed: int) -> list[Fault]:
    """Return a sample of the faults of some cores, or all. The same for the same seed.

    part: the beginning of the files' names, below `models`.
    """
    found = [fault for name in files() if name.startswith(part) for fault in faults_of(name)]
    found = [fault for fault in found if not cores or fault.core in cores]
    if sample is not None and sample < len(found):
        kept = random.Random(seed).sample(range(len(found)), sample)
        found = [found[at] for at in sorted(kept)]
    return found


def tried(fault: Fault, reaches: Sequence[Reach], *, seconds: float, seed: int) -> Result:
    """Explore with the fault, on the links that reach it. All, if none does.

    What exploring does not find the tests of the core are to find.
    """
    reaching = [reach for reach in reaches if reach.of(fault)]
    links = reaching or list(reaches)
    began = time.monotonic()
    runs = 0
    for reach in links:
        share = seconds / len(links)
        work = partial(explore_with, fault, reach.link, reach.of(fault), seconds=share, seed=seed)
        try:
            found = in_process(work, seconds=share)
        except EndedError as error:
            found = {"runs": 0, "property": "the_process_ends", "says": str(error)}
        runs += found["runs"]
        if found["property"] is not None:
            break
    else:
        found = _by_tests(fault)
    return Result(
        key=fault.key,
        reached=bool(reaching),
        link=reach.link,
        broken=found["property"],
        says=found["says"],
        runs=runs,
        seconds=round(time.monotonic() - began, 2),
    )


def _by_tests(fault: Fault) -> dict[str, Any]:
    tests = next(found for begin, found in TESTS.items() if fault.file.startswith(begin))
    work = partial(tested_with, fault, [*tests, VECTORS])
    try:
        return dict(in_process(work, seconds=_TESTS_SECONDS))
    except EndedError as error:
        return {"runs": 0, "property": "the_process_ends", "says": str(error)}


def results(
    faults: Sequence[Fault],
    reaches: dict[str, Reach],
    *,
    seconds: float,
    seed: int,
    jobs: int,
    kept: Path,
    progress: Callable[[Result], None],
) -> list[Result]:
    """Try every fault that the kept results lack, and return the results of all."""
    done = {result.key: result for result in load(kept)}
    missing = [fault for fault in faults if fault.key not in done]
    kept.parent.mkdir(parents=True, exist_ok=True)
    with kept.open("a", encoding="utf-8") as file:
        for result in _tried_all(missing, reaches, seconds=seconds, seed=seed, jobs=jobs):
            file.write(json.dumps(asdict(result)) + "\n")
            file.flush()
            done[result.key] = result
            progress(result)
    return [done[fault.key] for fault in faults]


def load(path: Path) -> list[Result]:
    """Return the results of a file. None where there is no file."""
    if not path.exists():
        return []
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [Result(**row | {"key": tuple(row["key"])}) for row in rows]


def _tried_all(
    faults: Sequence[Fault], reaches: dict[str, Reach], *, seconds: float, seed: int, jobs: int
) -> Iterator[Result]:
    # Fresh processes that fork one at a time: a fork of several threads may hang.
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn"), initializer=_imported) as pool:
        waiting = [
            pool.submit(
                tried,
                fault,
                [reaches[link] for link in LINKS[fault.core] if link in reaches],
                seconds=seconds,
                seed=seed,
            )
            for fault in faults
        ]
        try:
            for each in waiting:
                yield each.result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _imported() -> None:
    """Import what every fork would import again, and what no fault is planted in."""
    for name in ("numpy", "simpy"):
        import_module(name)
