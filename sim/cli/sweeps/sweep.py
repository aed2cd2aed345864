"""`ckptsim sweep`: run a plan's points and seeds on Spark, write the tables, print the answers."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ckptsim.scenarios.planning import Plan, size_of
from ckptsim.sim.answers.asked import asked_plan, save_plan
from ckptsim.sim.cli.main import EXIT_FINE, EXIT_VIOLATED
from ckptsim.sim.cli.options import (
    add_limit_arguments,
    add_property_argument,
    add_spark_arguments,
    limits_of,
    own_of,
    positive,
    repeated,
    spark_settings,
)
from ckptsim.sim.cli.places import output_folder
from ckptsim.sim.cli.progress import ProgressBar, say
from ckptsim.sim.cli.subject import add_costs_argument
from ckptsim.sim.infer.change import read_values

if TYPE_CHECKING:
    from ckptsim.analysis.summaries import Summaries
    from ckptsim.analysis.tables.store import SweepStore, Tally

EXAMPLES = """examples:
  ckptsim sweep job.toml --vary interval="2 s,5 s,10 s" --vary mode=aligned,unaligned --seeds 5
  ckptsim sweep job.toml --vary execution.checkpointing.interval="1 s,5 s" --save-plan mine.toml
  ckptsim sweep reference --vary core.ordering=builtin,mine:make --seeds 20     # designs
  ckptsim sweep flink_24667_disk_error --vary mutant=none,write_error_lost
  ckptsim sweep flip76_ad_hoc --vary spilling=ad_hoc,continuous --metric write_amplification
  ckptsim sweep upload_latency --out out/uploads                                # a plan
  ckptsim sweep mine.toml --set 'job.vertices[keyed].state=2 GB' --master "local[4]"
  ckptsim sweep mine.toml --out out/mine --master spark://host:7077
  ckptsim sweep store_knee --costs out/measure-store/costs.toml --out out/knee
  ckptsim report out/mine --open

The same command resumes an interrupted sweep: runs that are in the tables are skipped."""

_MANY_RUNS = 100_000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    parser.add_argument(
        "plan",
        metavar="PLAN|SCENARIO",
        help="a plan's name or the path of its file; with --vary also a scenario's",
    )
    repeated(
        parser,
        "--set",
        "PATH=VALUE",
        "set a parameter at all points, by its path or Flink's name; may be repeated",
    )
    repeated(
        parser,
        "--vary",
        "PATH=A,B,...",
        "sweep these values, in each combination with others: of a parameter, of core.SLOT "
        "(`builtin` is ours), or of `mutant` (`none` is right); may be repeated",
    )
    parser.add_argument(
        "--seeds",
        "--replications",
        type=positive,
        metavar="N",
        help="runs of each point; default: the plan's, of a scenario 10",
    )
    repeated(
        parser,
        "--metric",
        "M",
        "answer with this metric, such as ended_ns; default: the plan's; may be repeated",
    )
    parser.add_argument(
        "--save-plan", type=Path, metavar="FILE", help="write what is swept as a plan, too"
    )
    parser.add_argument(
        "--out",
        type=output_folder,
        metavar="DIR",
        help="default: out/NAME, or the next one that is free or has this sweep: out/NAME-2",
    )
    parser.add_argument(
        "--resume",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="keep the runs that are there; --no-resume replaces an earlier sweep in DIR",
    )
    add_limit_arguments(parser, instead="becomes a row with the error")
    parser.add_argument(
        "--report",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="write the page with figures, too; --no-report saves its seconds",
    )
    parser.add_argument("--json", action="store_true", help="print the summary as JSON")
    add_property_argument(parser)
    add_costs_argument(parser)
    add_spark_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run the sweep, print its answers, and say where tables and page are."""
    from ckptsim.analysis.spark.session import spark_session
    from ckptsim.analysis.sweeps.plan import prepared
    from ckptsim.analysis.sweeps.sweep import run_sweep

    settings = spark_settings(arguments)
    limits, properties = limits_of(arguments), own_of(arguments)
    plan = asked_plan(
        arguments.plan,
        vary=read_values(arguments.vary),
        change=arguments.set,
        seeds=arguments.seeds,
        costs=arguments.costs,
        metrics=arguments.metric,
    )
    say_size(plan)
    page = None
    with prepared(plan, arguments.out, resume=arguments.resume, properties=properties) as (
        store,
        rows,
    ):
        out = store.directory
        if arguments.save_plan is not None:
            save_plan(plan, arguments.save_plan)
        say(f"starting Spark on {arguments.master}")
        try:
            with spark_session(arguments.master, settings=settings) as session:
                with ProgressBar("runs") as bar:
                    summary = run_sweep(
                        session,
                        rows,
                        store,
                        partitions=arguments.partitions,
                        limits=limits,
                        progress=bar,
                        violated=bar.violated,
                    )
                found = answers_of(store)
                if arguments.report:
                    from ckptsim.analysis.report import write_report

                    page = write_report(out, session)
        except KeyboardInterrupt as stop:
            kept = f"{len(store.run_keys())} of {size_of(plan).runs} runs are kept in {out}"
            raise KeyboardInterrupt(f"{kept}; the same command does the rest") from stop
    tally = store.tally()
    if arguments.json:
        told = {"out": str(out), **asdict(summary), **asdict(tally), **found.document()}
        print(json.dumps(told if page is None else {**told, "report": str(page)}))
    else:
        rate = summary.done / summary.wall_s
        there = f", {summary.skipped} were there already" if summary.skipped else ""
        print(f"{summary.done} runs in {summary.wall_s:.1f} s ({rate:.1f} per second){there}")
        print("\n".join(answered(found, tally, out, page, saved=arguments.save_plan)))
    return EXIT_VIOLATED if tally.errors or tally.violated else EXIT_FINE


def say_size(plan: Plan) -> None:
    """Say how much a plan is before anything is made of it: always where it is very much."""
    size = size_of(plan)
    said = f"sweep {plan.name}: {size}"
    if size.runs >= _MANY_RUNS:
        print(f"{said}; all of them are checked and listed first", file=sys.stderr, flush=True)
    else:
        say(said)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """The findings of a sweep, its sentences and its cliffs in words."""

    findings: Summaries
    sentences: tuple[str, ...]
    cliffs: list[str]

    def document(self) -> dict[str, object]:
        """Return what JSON has of them."""
        return {"answers": list(self.sentences), "cliffs": self.cliffs}


def answers_of(store: SweepStore) -> Answers:
    """Return the answers of the sweep in a store."""
    from ckptsim.analysis.answers import answer, cliff_sentences
    from ckptsim.analysis.summaries import read

    findings = read(store)
    sentences = answer(findings).sentences
    return Answers(findings=findings, sentences=sentences, cliffs=cliff_sentences(findings, store))


def answer_lines(found: Answers) -> list[str]:
    """Return the answers as they are printed, after an empty line."""
    from ckptsim.analysis.answers import printed

    return ["", *printed(found.findings, found.cliffs)]


def answered(
    found: Answers, tally: Tally, out: Path, page: Path | None, *, saved: Path | None = None
) -> list[str]:
    """Return the lines at the end of a sweep.

    out: the directory of the tables; page: the report, if one was written; saved: the plan.
    """
    lines = [*answer_lines(found), ""]
    lines += list(_went_wrong(found.findings, tally))
    if saved is not None:
        lines.append(f"plan: {saved}")
    lines.append(f"tables: {out}")
    if page is None:
        return [*lines, f"next: ckptsim report {out}"]
    return [*lines, f"report: {page}", f"open it: ckptsim report {out} --open"]


def _went_wrong(findings: Summaries, tally: Tally) -> list[str]:
    """Return what was not meant to happen, each with the command that repeats a run of it."""
    from ckptsim.analysis.answers import paragraph, violations_of

    lines = []
    if tally.errors:
        first = findings.errors.iloc[0]
        text = str(first["error"]).partition("\n")[0]
        says = f"{tally.errors:,} of {tally.runs:,} runs ended in an error, such as: {text}"
        lines += paragraph(says)
        lines += [f"  replay: {first['replay']}"]
    if tally.violated:
        rows = violations_of(findings, expected=False)
        names = ", ".join(dict.fromkeys(str(row["property"]) for row in rows))
        says = f"{tally.violated:,} of {tally.runs:,} runs violate a property: {names}"
        lines += paragraph(f"{says}; {rows[0]['says']}" if rows else says)
        lines += [f"  replay: {rows[0]['replay']}"] if rows else []
    return lines
