"""`ckptsim measure-store`: measure real stores on this machine and let the model use the costs."""

from __future__ import annotations

import argparse
import json
import os
import platform
import tempfile
from dataclasses import asdict, replace
from pathlib import Path

from scenarios import Scenario, UserError
from scenarios.catalogue import by_name
from scenarios.toml import to_toml
from scenarios.vary import with_parameters
from sim.cli.main import EXIT_FINE
from sim.cli.progress import ProgressBar

EXAMPLES = """examples:
  ckptsim measure-store
  ckptsim measure-store --scenario external_crashes --out measured.toml
  ckptsim run measured.toml
  ckptsim measure-store --folder /data/stores --repeats 100 --json"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    parser.add_argument(
        "--scenario",
        default="colocated_crashes",
        metavar="SCENARIO",
        help="scenario that gets the measured costs (default colocated_crashes)",
    )
    parser.add_argument(
        "--out",
        type=Path,
        metavar="FILE",
        help="where that scenario is written (default out/measure-store/NAME_measured.toml)",
    )
    parser.add_argument(
        "--folder", type=Path, help="a folder on the disk to measure (default a temporary one)"
    )
    parser.add_argument(
        "--repeats", type=_repeats, default=30, help="of each small transaction (default 30)"
    )
    parser.add_argument("--json", action="store_true", help="print measurements and costs as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Measure, print the medians, and write a scenario with the costs that follow."""
    from sim.store.real.measure import costs_of, measure

    scenario = by_name(arguments.scenario)
    if scenario.link != "checkpoint_store":
        raise UserError(
            f"--scenario: found {scenario.name!r} of link {scenario.link!r}, expected one of link "
            "'checkpoint_store'"
        )
    if arguments.folder is not None and not arguments.folder.is_dir():
        raise UserError(f"--folder: found {str(arguments.folder)!r}, expected a folder")
    with (
        tempfile.TemporaryDirectory(prefix="ckptsim-measure-", dir=arguments.folder) as folder,
        ProgressBar("measuring") as bar,
    ):
        found = measure(
            Path(folder),
            repeats=arguments.repeats,
            progress=lambda _says, done, total: bar(done=done, total=total),
        )
    costs = costs_of(found)
    measured = _with_costs(scenario, costs)
    out = arguments.out or Path("out") / "measure-store" / f"{measured.name}.toml"
    _write(out, to_toml(measured))
    if arguments.json:
        rows = [asdict(each) for each in found]
        document = {"measurements": rows, "costs": costs, "scenario": str(out)}
        print(json.dumps(document, indent=1))
        return EXIT_FINE
    print(f"{'step':<62} {'median ms':>10} {'p95 ms':>10} {'n':>5}")
    for each in found:
        times = f"{each.median_ns / 1e6:>10.3f} {each.p95_ns / 1e6:>10.3f}"
        print(f"{each.says:<62} {times} {each.n:>5}")
    print("\ncosts of the model:")
    for name, value in costs.items():
        shown = f"{value:,} bytes/s" if name.endswith("_per_s") else f"{value / 1e6:.6f} ms"
        print(f"  {name:<20} {shown}")
    print(f"\nwritten: {out}; try: ckptsim run {out}")
    return EXIT_FINE


def _with_costs(scenario: Scenario, costs: dict[str, int]) -> Scenario:
    machine = f"{platform.machine()}, {os.cpu_count()} cores"
    varied = with_parameters(
        scenario, {f"store.costs.{name}": value for name, value in costs.items()}
    )
    return replace(
        varied,
        name=f"{scenario.name}_measured",
        says=f"{scenario.says}; costs measured here ({machine})",
    )


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UserError(f"--out: cannot write {path}: {error.strerror}") from error


def _repeats(text: str) -> int:
    try:
        value = int(text)
    except ValueError:
        value = 0
    if not 3 <= value <= 10_000:
        raise argparse.ArgumentTypeError(f"found {text!r}, expected a number from 3 to 10000")
    return value
