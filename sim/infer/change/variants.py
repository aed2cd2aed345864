"""A job as it would be beside the job as it is: what moved, in which part, and at what price."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import cast

from ckptsim.scenarios import Scenario
from ckptsim.scenarios.errors import Problem, ScenarioError
from ckptsim.scenarios.job import Job
from ckptsim.sim.infer.advice.budget import bounded
from ckptsim.sim.infer.advice.day import DAY_S
from ckptsim.sim.infer.change.change import changed
from ckptsim.sim.infer.change.conf import Configuration
from ckptsim.sim.infer.measures import LastPart, Measures

_MS = 1e6
# More variants than anybody compares in one table. A sweep is the place for more.
_MOST = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """One change and the scenario that it makes. conf: a file that has a part of the change."""

    change: Mapping[str, str]
    scenario: Scenario
    conf: Configuration | None = None

    @property
    def name(self) -> str:
        """Return the change in short, such as `interval=500 ms`. A file has its name."""
        known = {} if self.conf is None else self.conf.change
        own = [(key, value) for key, value in self.change.items() if known.get(key) != value]
        words = [] if self.conf is None else [self.conf.name]
        words += [f"{_last(option)}={value}" for option, value in own]
        return ", ".join(words) or "as it is"


def _last(option: str) -> str:
    """Return the part of an option's name that distinguishes it from others."""
    short = option.removeprefix("execution.checkpointing.").removeprefix("taskmanager.")
    return short.removeprefix("network.memory.").removeprefix("memory.").removeprefix("job.")


def variants_of(
    base: Scenario,
    change: Mapping[str, str],
    varied: Mapping[str, Sequence[str]],
    conf: Configuration | None = None,
) -> list[Variant]:
    """Return a variant for every combination of the varied options, with `change` in each.

    conf: a file of the engine, with options that `change` and the varied ones override.
    Raises ScenarioError for options and values that cannot be, and for more than 64 variants.
    """
    count = 1
    for option, values in varied.items():
        count *= len(values)
        if option in change:
            raise ScenarioError([Problem(f"--vary {option}", "--set, too", "one of both")])
    if count > _MOST:
        raise ScenarioError([Problem("--vary", f"{count} variants", f"at most {_MOST}")])
    found = []
    of_file = {} if conf is None else dict(conf.change)
    for values in product(*varied.values()):
        own = of_file | dict(change) | dict(zip(varied, values, strict=True))
        if own or conf is not None:
            scenario = bounded(_changed(base, own, conf))
            found.append(Variant(change=own, scenario=scenario, conf=conf))
    return found


def _changed(base: Scenario, change: Mapping[str, str], conf: Configuration | None) -> Scenario:
    """Return a changed scenario. A problem of an option of a file names the file."""
    try:
        return changed(base, change)
    except ScenarioError as error:
        if conf is None:
            raise
        named = {f"--set {key}": f"{conf.name}: {key}" for key in conf.change}
        raise ScenarioError(
            [replace(one, path=named.get(one.path, one.path)) for one in error.problems]
        ) from error


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """What a way of taking checkpoints costs besides their duration.

    in_flight_bytes: written with each checkpoint.  written_bytes_per_day: state and data in flight
    together.  done_again_s: of what a failure undoes, at worst: from the trigger of a checkpoint to
    the completion of the next one.
    """

    in_flight_bytes: float
    written_bytes_per_day: float
    done_again_s: float


def price_of(scenario: Scenario, measures: Measures) -> Price:
    """Return the price of a scenario, as its runs show it."""
    job = cast("Job", scenario.model)
    duration_s = measures.duration_ms.get("median", 0.0) / 1e3
    interval_s = max(
        job.checkpointing.interval_ns / 1e9, duration_s + job.checkpointing.min_pause_ns / 1e9
    )
    return Price(
        in_flight_bytes=measures.persisted_bytes.get("median", 0.0),
        written_bytes_per_day=measures.written_bytes * DAY_S / interval_s,
        done_again_s=interval_s + duration_s,
    )


def why(before: Measures, after: Measures) -> str:
    """Return in one sentence which part of a checkpoint moved, of the subtask that is last."""
    old, new = before.last, after.last
    if old is None or new is None:
        return "no checkpoint was completed after the warm-up"
    was = parts_of(old)
    moved, now = max(parts_of(new).items(), key=lambda part: abs(part[1] - was[part[0]]))
    change = f"{moved} {was[moved]:,.0f} -> {now:,.0f} ms"
    if old.vertex != new.vertex:
        return f"{new.vertex} instead of {old.vertex} is last: {change}"
    if abs(now - was[moved]) < 1:
        return f"{new.vertex} is last, as before"
    return f"{new.vertex} is last: {change}"


def parts_of(last: LastPart) -> dict[str, float]:
    """Return how the last subtask's time was spent in ms, under the names that are shown."""
    return {
        "start delay": last.start_delay_ms,
        "alignment": last.alignment_ms,
        "asynchronous": last.async_ms,
    }


def extrapolations(base: Scenario, variant: Scenario) -> Iterator[str]:
    """Yield what a variant asks that the recording cannot say."""
    before, after = cast("Job", base.model), cast("Job", variant.model)
    old = {vertex.name: vertex for vertex in before.vertices}
    for vertex in after.vertices:
        was = old.get(vertex.name)
        if was is None:
            continue
        if vertex.parallelism != was.parallelism:
            yield (
                f"{vertex.name}: with {vertex.parallelism} instead of {was.parallelism} subtasks"
                " keys are taken as even and service times as their mean"
            )
        if vertex.rate_per_s is not None and (was.rate_per_s or 0) < vertex.rate_per_s:
            known = "unknown" if was.rate_per_s is None else f"{was.rate_per_s:,.0f} /s"
            yield f"{vertex.name}: {vertex.rate_per_s:,.0f} /s is more than was seen ({known})"
        if sum(vertex.subtask_state_bytes) > 2 * sum(was.subtask_state_bytes) > 0:
            yield f"{vertex.name}: state is more than twice what was recorded"
    writes_more = after.checkpointing.unaligned and not before.checkpointing.unaligned
    if writes_more and after.storage.write_bytes_per_s is None:
        yield "data in flight is written to a storage whose limit was not seen"
