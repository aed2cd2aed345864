"""`ckptsim whatif`: a job as it is, measured and predicted, beside the job as it would be."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any, cast

from ckptsim.scenarios import Scenario
from ckptsim.scenarios.errors import UserError
from ckptsim.scenarios.job import Job
from ckptsim.sim.cli.columns import aligned
from ckptsim.sim.cli.jobs.import_job import add_import_arguments
from ckptsim.sim.cli.jobs.variant_page import page
from ckptsim.sim.cli.main import EXIT_FINE
from ckptsim.sim.cli.places import output_file, written_whole
from ckptsim.sim.cli.progress import ProgressBar
from ckptsim.sim.cli.subject import positive
from ckptsim.sim.infer.advice.warnings import warnings_of
from ckptsim.sim.infer.change import read_change
from ckptsim.sim.infer.change.variants import (
    Variant,
    extrapolations,
    price_of,
    slowest_part,
    variants_of,
    why,
)
from ckptsim.sim.infer.folder import Named, job_named, place_named
from ckptsim.sim.infer.measures import Measures, predicted, simulated
from ckptsim.sim.rows import RunResult

EXAMPLES = """examples:
  ckptsim whatif recorded/ --set execution.checkpointing.unaligned.enabled=true
  ckptsim whatif orders --set parallelism.default=6 --out answer.html
  ckptsim whatif job.toml --vary 'execution.checkpointing.interval=500 ms,1 s,5 s'
  ckptsim whatif recorded/ --set 'source.orders.rate=3900 /s' --json
  ckptsim whatif job.toml --set vertex.join.parallelism=4 --set 'vertex.join.state=20 mb'

Options have the engine's own names, or ours: source.NAME.KEY, vertex.NAME.KEY, or a path such as
job.network.latency.  A change that only says what the recording does not belongs to `import --set`.
exit codes: 0 done, 2 no such job, option or value"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    parser.add_argument(
        "job_place", type=place_named, metavar="JOB.toml|DIR", help="a scenario, or a recording"
    )
    add_import_arguments(parser)
    parser.add_argument(
        "--vary",
        action="append",
        default=[],
        metavar="OPTION=A,B,...",
        help="one variant for each value, and for each combination with other --vary",
    )
    parser.add_argument("--seeds", type=positive, default=5, help="runs of each (default: 5)")
    parser.add_argument(
        "--out", type=output_file, metavar="PAGE.html", help="write the answer as a page, too"
    )
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What the runs of one scenario show, pooled, and the median duration of each run."""

    measures: Measures
    medians_ms: tuple[float, ...]


def run(arguments: argparse.Namespace) -> int:
    """Simulate the job as it is and every variant, and compare."""
    named = job_named(arguments.job_place, job=arguments.job, machine=arguments.machine)
    change, varied = read_change(arguments.set), _varied(arguments.vary)
    if not change and not varied:
        raise UserError("--set: found no change, expected at least one --set or --vary")
    variants = variants_of(named.scenario, change, varied)
    scenarios = [named.scenario, *(one.scenario for one in variants)]
    outcomes = []
    with ProgressBar("whatif") as bar:
        for index, scenario in enumerate(scenarios):
            results: list[RunResult] = []
            for seed in range(1, arguments.seeds + 1):
                results += simulated(scenario, seeds=(seed,))
                done = index * arguments.seeds + seed
                bar(done=done, total=len(scenarios) * arguments.seeds)
            outcomes.append(_outcome(results))
    notes = list(_notes(named, variants))
    if arguments.json:
        print(json.dumps(_document(named, variants, outcomes, notes), indent=1))
    else:
        print("\n".join(_lines(named, variants, outcomes, notes)))
    if arguments.out is not None:
        written_whole(arguments.out, _page(named, variants, outcomes, notes))
        print(f"written: {arguments.out}", file=sys.stderr)
    return EXIT_FINE


def _varied(words: Sequence[str]) -> dict[str, list[str]]:
    """Return the values of each varied option."""
    found = read_change(words, "--vary")
    return {option: [part.strip() for part in text.split(",")] for option, text in found.items()}


def _outcome(results: Sequence[RunResult]) -> Outcome:
    each = (predicted([result]).duration_ms.get("median") for result in results)
    return Outcome(
        measures=predicted(results), medians_ms=tuple(one for one in each if one is not None)
    )


def _notes(named: Named, variants: Sequence[Variant]) -> Iterator[str]:
    """Yield what must be said with the answer, each once."""
    said: dict[str, None] = dict.fromkeys(warnings_of(_job(named.scenario), named.recording))
    for variant in variants:
        own = [*extrapolations(named.scenario, variant.scenario)]
        own += [one for one in warnings_of(_job(variant.scenario)) if one not in said]
        said |= dict.fromkeys(f"{variant.name}: {one}" for one in own)
    yield from said


def _job(scenario: Scenario) -> Job:
    return cast("Job", scenario.model)


# Output ------------------------------------------------------------------------------------------

_HEAD = ("", "duration", "p95", "over seeds", "in flight", "written a day", "done again")


def _rows(
    named: Named, variants: Sequence[Variant], outcomes: Sequence[Outcome]
) -> Iterator[tuple[str, ...]]:
    """Yield the rows of the table: measured, predicted as it is, and each variant."""
    if named.measures is not None:
        yield _measured_row(named.measures)
    scenarios = [named.scenario, *(one.scenario for one in variants)]
    labels = ["as it is, predicted", *(one.name for one in variants)]
    for label, scenario, outcome in zip(labels, scenarios, outcomes, strict=True):
        yield _row(label, scenario, outcome)


def _moved(variants: Sequence[Variant], outcomes: Sequence[Outcome]) -> list[str]:
    base = outcomes[0].measures
    return [
        f"{variant.name}: {why(base, outcome.measures)}"
        for variant, outcome in zip(variants, outcomes[1:], strict=True)
    ]


def _page(
    named: Named, variants: Sequence[Variant], outcomes: Sequence[Outcome], notes: Sequence[str]
) -> str:
    labels = ["as it is", *(one.name for one in variants)]
    bars = [
        (label, slowest_part(outcome.measures))
        for label, outcome in zip(labels, outcomes, strict=True)
    ]
    return page(
        f"What if: {named.scenario.name}",
        table=(_HEAD, list(_rows(named, variants, outcomes))),
        bars=[(label, *found) for label, found in bars if found is not None],
        moved=_moved(variants, outcomes),
        notes=notes,
    )


def _lines(
    named: Named, variants: Sequence[Variant], outcomes: Sequence[Outcome], notes: Sequence[str]
) -> Iterator[str]:
    yield from aligned(_HEAD, list(_rows(named, variants, outcomes)))
    yield "\nwhich part of a checkpoint moved:"
    yield from (f"  {line}" for line in _moved(variants, outcomes))
    if notes:
        yield ""
        yield from (f"note: {note}" for note in notes)


def _measured_row(found: Measures) -> tuple[str, ...]:
    return (
        "as it is, measured",
        _ms(found.duration_ms.get("median")),
        _ms(found.duration_ms.get("p95")),
        f"n = {found.duration_ms['n']}",
        _size(found.persisted_bytes.get("median")),
        "",
        "",
    )


def _row(label: str, scenario: Scenario, outcome: Outcome) -> tuple[str, ...]:
    measures, price = outcome.measures, price_of(scenario, outcome.measures)
    spread = outcome.medians_ms
    return (
        label,
        _ms(measures.duration_ms.get("median")),
        _ms(measures.duration_ms.get("p95")),
        f"{min(spread):,.0f} to {max(spread):,.0f} ms" if spread else "none completed",
        _size(price.in_flight_bytes),
        _size(price.written_bytes_per_day),
        f"{price.done_again_s:,.1f} s",
    )


def _ms(value: float | None) -> str:
    return "-" if value is None else f"{value:,.0f} ms"


def _size(value: float | None) -> str:
    if value is None:
        return "-"
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if value >= size:
            return f"{value / size:,.1f} {unit}"
    return f"{value:,.0f} B"


def _document(
    named: Named, variants: Sequence[Variant], outcomes: Sequence[Outcome], notes: Sequence[str]
) -> dict[str, Any]:
    """Return what `--json` prints; `variant` is the first of `variants`."""
    base = outcomes[0].measures
    others = [
        {
            "change": dict(variant.change),
            **_figures(variant.scenario, outcome),
            "why": why(base, outcome.measures),
        }
        for variant, outcome in zip(variants, outcomes[1:], strict=True)
    ]
    measured = None if named.measures is None else _statistics(named.measures)
    baseline: Mapping[str, Any] = {"measured": measured, **_figures(named.scenario, outcomes[0])}
    return {"baseline": baseline, "variant": others[0], "variants": others, "notes": list(notes)}


def _figures(scenario: Scenario, outcome: Outcome) -> dict[str, Any]:
    medians = outcome.medians_ms
    return {
        "predicted": _statistics(outcome.measures),
        "median_of_seeds_ms": {
            "n": len(medians),
            "least": min(medians, default=None),
            "middle": median(medians) if medians else None,
            "most": max(medians, default=None),
        },
        "price": asdict(price_of(scenario, outcome.measures)),
        "vertices": {name: asdict(one) for name, one in outcome.measures.vertices.items()},
    }


def _statistics(found: Measures) -> dict[str, Any]:
    return {
        "end_to_end_duration_ms": found.duration_ms,
        "persisted_bytes": found.persisted_bytes,
        "processed_bytes": found.processed_bytes,
    }
