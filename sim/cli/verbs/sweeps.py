"""`sweep` and `report`: a plan's points and seeds on Spark, and the page of their tables."""

from __future__ import annotations

import argparse
import json
import sys
import webbrowser
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from ckptsim._api.sweeps.asked import asked_plan, save_plan
from ckptsim._api.sweeps.verbs import swept
from ckptsim.scenarios.planning import Plan, size_of
from ckptsim.sim.cli.main import EXIT_FINE
from ckptsim.sim.cli.options import (
    COSTS,
    PROPERTY,
    Verb,
    flag,
    json_of,
    kept_folder,
    limits,
    option,
    output_folder,
    positive,
    repeated,
    spark,
    spark_settings,
)
from ckptsim.sim.cli.progress import ProgressBar, say
from ckptsim.sim.cli.subject import own_of
from ckptsim.sim.infer.change import read_values
from ckptsim.sim.limits import Limits

_MANY_RUNS = 100_000


def _sweep(arguments: argparse.Namespace) -> int:
    settings, properties = spark_settings(arguments), own_of(arguments)
    plan = asked_plan(
        arguments.plan,
        vary=read_values(arguments.vary),
        change=arguments.set,
        seeds=arguments.seeds,
        costs=arguments.costs,
        metrics=arguments.metric,
    )
    _say_size(plan)

    def session() -> AbstractContextManager[Any]:
        from ckptsim.analysis.spark.session import spark_session

        if arguments.save_plan is not None:
            save_plan(plan, arguments.save_plan)
        say(f"starting Spark on {arguments.master}")
        return spark_session(arguments.master, settings=settings)

    with ProgressBar("runs") as bar:
        found = swept(
            plan,
            arguments.out,
            session,
            resume=arguments.resume,
            properties=properties,
            report=arguments.report,
            partitions=arguments.partitions,
            limits=Limits(seconds=arguments.run_timeout, memory_bytes=arguments.run_memory),
            progress=bar,
            violated=bar.violated,
        )
    print(json.dumps(found.to_dict()) if arguments.json else found.told(saved=arguments.save_plan))
    return int(found.failed)


def _say_size(plan: Plan) -> None:
    """Say how much a plan is before anything is made of it: always where it is very much."""
    size = size_of(plan)
    said = f"sweep {plan.name}: {size}"
    if size.runs >= _MANY_RUNS:
        print(f"{said}; all of them are checked and listed first", file=sys.stderr, flush=True)
    else:
        say(said)


def _report(arguments: argparse.Namespace) -> int:
    from ckptsim.analysis.report import View, write_report

    view = View(
        metrics=tuple(arguments.metric),
        by=arguments.by,
        points=tuple(arguments.points),
        compare=arguments.compare,
    )
    path = write_report(arguments.directory, view=view, begins=lambda name: say(f"  {name}"))
    print(f"report: {path}")
    if arguments.open and not webbrowser.open(path.resolve().as_uri()):
        say("there is no browser here")
    return EXIT_FINE


VERBS = {
    "sweep": Verb(
        run=_sweep,
        options=(
            option(
                "plan",
                "a plan's name or the path of its file; with --vary also a scenario's",
                "PLAN|SCENARIO",
            ),
            repeated(
                "--set",
                "PATH=VALUE",
                "set a parameter at all points, by its path or Flink's name; may be repeated",
            ),
            repeated(
                "--vary",
                "PATH=A,B,...",
                "sweep these values, in each combination with others: of a parameter, of core.SLOT "
                "(`builtin` is ours), or of `mutant` (`none` is right); may be repeated",
            ),
            option(
                "--seeds --replications",
                "runs of each point; default: the plan's, of a scenario 10",
                "N",
                positive,
            ),
            repeated(
                "--metric",
                "M",
                "answer with this metric, such as ended_ns; default: the plan's; may be repeated",
            ),
            option("--save-plan", "write the sweep as a plan, too", "FILE", Path),
            option(
                "--out",
                "default: out/NAME, or the next one that is free or has this sweep: out/NAME-2",
                "DIR",
                output_folder,
            ),
            option(
                "--resume",
                "keep the runs that are there; --no-resume replaces an earlier sweep in DIR",
                action=argparse.BooleanOptionalAction,
                default=True,
            ),
            *limits("becomes a row with the error"),
            option(
                "--report",
                "write the page with figures, too; --no-report saves its seconds",
                action=argparse.BooleanOptionalAction,
                default=True,
            ),
            json_of("the summary"),
            PROPERTY,
            COSTS,
            *spark(),
        ),
        examples="""examples:
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

The same command resumes an interrupted sweep: runs that are in the tables are skipped.""",
    ),
    "report": Verb(
        run=_report,
        options=(
            option("directory", "what `sweep` has written", "DIR", kept_folder),
            repeated(
                "--metric", "M", "answer with this metric instead of the plan's; may be repeated"
            ),
            option("--by", "lay figures and sentences along this swept parameter", "PARAM"),
            repeated("--points", "PARAM=VALUE", "only points with this value; may be repeated"),
            option(
                "--compare",
                "compare each point with the same one of another sweep of the plan",
                "OTHER_DIR",
                Path,
            ),
            flag("--open", "open the page in a browser"),
        ),
        examples="""examples:
  ckptsim report out/uploads --open
  ckptsim report out/demo        # a directory with several sweeps gives one page
  ckptsim report out/modes --metric p95_latency_ns --metric persisted_bytes
  ckptsim report out/modes --by "checkpoint mode" --points "service time of a record=1 ms"
  ckptsim report out/modes --compare out/modes-before    # point by point, paired by seed""",
    ),
}
