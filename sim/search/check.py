"""Run a scenario under many seeds and tie orders against its properties."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import blake2b
from itertools import islice
from multiprocessing import get_context

from ckptsim.sim.kernel import Exploration
from ckptsim.sim.rows import ViolationRow
from ckptsim.sim.search.stories import with_story
from ckptsim.sim.search.trial import Subject, Trial, replay_of, trial

EXHAUSTIVE = "exhaustive"
# The property that is violated when the same run has two digests.
RUN_REPEATS = "a_run_repeats"
# Violating trials that are reported beside the nearest run that holds. Those after them tell the
# same.
_BESIDE_MAX = 3
# Trials that a worker does at a time: enough to make the hand-over cheap, few enough to stop soon.
_CHUNK = 16
# Runs beyond the seeds asked for in which a property that has to break may still do so. An
# assumption: the ones of the library that break by chance do so in a fifth of their runs at least.
MORE_RUNS = 100


@dataclass(slots=True, kw_only=True)
class CheckReport:
    """What many runs of one scenario showed.

    unexpected: the violating trials of properties that the scenario does not expect to break, with
    stories, by seed. expected: property -> number of runs, for those it expects. goals: situation
    -> number of runs that reached it. wanted_goals: the situations that the scenario asks for.
    unexplored: the seeds that have more orders of ties than were tried (exhaustive ties only).
    late: expected property -> number of seeds that break it, for those that need more than asked.
    slowest: the run with the slowest completed checkpoint.  incomplete: status and reason of failed
    checkpoints -> how many, and the first run that has one.
    """

    seeds: range
    ties: tuple[str, ...]
    runs: int = 0
    events: int = 0
    outcomes: dict[str, int] = field(default_factory=dict)
    goals: dict[str, int] = field(default_factory=dict)
    wanted_goals: tuple[str, ...] = ()
    expected: dict[str, int] = field(default_factory=dict)
    unexpected: list[Trial] = field(default_factory=list)
    digest: str = ""
    unexplored: list[int] = field(default_factory=list)
    late: dict[str, int] = field(default_factory=dict)
    slowest: Trial | None = None
    incomplete: dict[str, tuple[int, Trial]] = field(default_factory=dict)

    @property
    def missed_goals(self) -> list[str]:
        """The situations that the scenario asks for and no run reached."""
        return [name for name in self.wanted_goals if not self.goals.get(name)]

    @property
    def unbroken(self) -> list[str]:
        """The properties that the scenario should break and no run did, nor any of some more."""
        return [name for name in self.expected if self._unseen(name)]

    def _unseen(self, name: str) -> bool:
        return self.expected[name] == 0 and name not in self.late

    @property
    def passed(self) -> bool:
        """Whether nothing unexpected was found and everything expected was."""
        return not self.unexpected and not self.unbroken


class CheckStopped(KeyboardInterrupt):
    """An interrupted check, with the report of the runs before."""

    def __init__(self, report: CheckReport) -> None:
        super().__init__()
        self.report = report


def check(
    subject: Subject,
    seeds: range,
    *,
    ties: Sequence[str] = ("random",),
    jobs: int = 1,
    orders: int = 1000,
    keep_going: bool = False,
    progress: Callable[[int], None] | None = None,
) -> CheckReport:
    """Run the seeds in order, each under the next tie policy. Stop at the first violation.

    With "exhaustive" as the only policy each seed is run under every order of ties, at most
    `orders`, in one process.  jobs: processes. The report does not depend on their number.
    keep_going: do not stop. progress: called with the number of runs after each.  In the end the
    first run is repeated: another digest than before is a violation of its own.  Where the scenario
    says that it breaks a property and no run did, some more seeds are run until one does. Raises
    CheckStopped when it is interrupted.
    """
    scenario = subject.scenario
    report = CheckReport(
        seeds=seeds,
        ties=tuple(ties),
        goals=dict.fromkeys(scenario.goals, 0),
        wanted_goals=scenario.goals,
        expected=dict.fromkeys(scenario.violates, 0),
    )
    explore = tuple(ties) == (EXHAUSTIVE,)
    trials = _explored(subject, report, orders) if explore else _trials(subject, seeds, ties, jobs)
    try:
        _run(subject, report, trials, keep_going=keep_going, progress=progress)
        if not explore and not report.unexpected:
            _look_further(subject, report)
    except KeyboardInterrupt as stop:
        raise CheckStopped(report) from stop
    return report


def _run(
    subject: Subject,
    report: CheckReport,
    trials: Iterable[Trial],
    *,
    keep_going: bool,
    progress: Callable[[int], None] | None,
) -> None:
    digest = blake2b(digest_size=16)
    first: Trial | None = None
    for found in trials:
        first = first or found
        _count(report, found)
        digest.update(f"{found.seed} {found.ties} {found.digest}\n".encode())
        if progress is not None:
            progress(report.runs)
        if _is_unexpected(report, found):
            beside = len(report.unexpected) < _BESIDE_MAX
            report.unexpected.append(_told(subject, report, found, beside=beside))
            if not keep_going:
                break
    if first is not None and not report.unexpected:
        report.unexpected += _not_repeated(subject, first)
    report.digest = digest.hexdigest()


def _look_further(subject: Subject, report: CheckReport) -> None:
    """Run more seeds until every property that should break has broken, or enough have passed.

    A property that breaks by chance may hold in the few runs that were asked for. Whether they were
    too few, or the scenario does not show what it says, is known after more of them.
    """
    begin = report.seeds.stop
    for number, seed in enumerate(range(begin, begin + MORE_RUNS), start=len(report.seeds)):
        missing = report.unbroken
        if not missing:
            return
        found = trial(subject, seed, report.ties[number % len(report.ties)])
        broken = {row.property for row in found.violations}
        report.late.update({name: number + 1 for name in missing if name in broken})
        if _is_unexpected(report, found):
            report.unexpected.append(_told(subject, report, found))
            return


def _told(subject: Subject, report: CheckReport, found: Trial, *, beside: bool = True) -> Trial:
    """Return a trial with the stories of its violations, those that are not expected first."""
    told = with_story(subject, found, beside=beside)
    rows = sorted(told.violations, key=lambda row: row.property in report.expected)
    return replace(told, violations=tuple(rows))


def _is_unexpected(report: CheckReport, found: Trial) -> bool:
    return any(row.property not in report.expected for row in found.violations)


def _not_repeated(subject: Subject, first: Trial) -> list[Trial]:
    """Repeat the first run. Return the second run if it was a different one."""
    again = trial(subject, first.seed, first.ties)
    if again.digest == first.digest:
        return []
    says = (
        f"the digest of the first run was {first.digest}, and {again.digest} when it was repeated"
    )
    row = ViolationRow(
        run_key="",
        property=RUN_REPEATS,
        at_ns=0,
        says=says,
        story="Something is kept from run to run, or differs from process to process.",
        replay=replay_of(subject, first.seed, first.ties),
    )
    return [replace(again, violations=(row,))]


def _count(report: CheckReport, found: Trial) -> None:
    report.runs += 1
    report.events += found.events
    report.outcomes[found.outcome] = report.outcomes.get(found.outcome, 0) + 1
    for name, count in found.goals.items():
        report.goals[name] = report.goals.get(name, 0) + (count > 0)
    if found.slowest and (report.slowest is None or found.slowest > report.slowest.slowest):
        report.slowest = found
    for kind, (number, _) in found.failed.items():
        count, first = report.incomplete.get(kind, (0, found))
        report.incomplete[kind] = (count + number, first)
    for name in dict.fromkeys(row.property for row in found.violations):
        if name in report.expected:
            report.expected[name] += 1


def _explored(subject: Subject, report: CheckReport, orders: int) -> Iterator[Trial]:
    for seed in report.seeds:
        exploration = Exploration(partial(trial, subject, seed), limit=orders)
        yield from exploration
        if not exploration.complete:
            report.unexplored.append(seed)


def _trials(subject: Subject, seeds: range, ties: Sequence[str], jobs: int) -> Iterator[Trial]:
    plan = ((seed, ties[number % len(ties)]) for number, seed in enumerate(seeds))
    if jobs == 1:
        for seed, policy in plan:
            yield trial(subject, seed, policy)
        return
    chunks = _chunks(plan)
    # Fresh interpreters: a fork would inherit threads, and whatever else this process is doing. An
    # interrupt from the keyboard goes to all. The workers end at once and say nothing.
    quiet = (signal.SIGINT, signal.SIG_DFL)
    with ProcessPoolExecutor(
        jobs, mp_context=get_context("spawn"), initializer=signal.signal, initargs=quiet
    ) as pool:
        waiting = [pool.submit(_chunk, subject, chunk) for chunk in islice(chunks, 2 * jobs)]
        try:
            while waiting:
                yield from waiting.pop(0).result()
                waiting += [pool.submit(_chunk, subject, chunk) for chunk in islice(chunks, 1)]
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _chunks(plan: Iterable[tuple[int, str]]) -> Iterator[list[tuple[int, str]]]:
    iterator = iter(plan)
    while chunk := list(islice(iterator, _CHUNK)):
        yield chunk


def _chunk(subject: Subject, chunk: list[tuple[int, str]]) -> list[Trial]:
    return [trial(subject, seed, policy) for seed, policy in chunk]
