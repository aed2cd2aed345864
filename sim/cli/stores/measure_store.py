"""`ckptsim measure-store`: measure real stores on this machine and write costs for the model."""

from __future__ import annotations

import argparse
import json
import os
import platform
import tempfile
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from ckptsim.scenarios import UserError
from ckptsim.scenarios.dialect import duration_text
from ckptsim.scenarios.files import costs_text, written_whole
from ckptsim.sim.cli.main import EXIT_FINE
from ckptsim.sim.cli.options import whole
from ckptsim.sim.cli.places import output_file
from ckptsim.sim.cli.progress import ProgressBar

EXAMPLES = """examples:
  ckptsim measure-store
  ckptsim run external_crashes --costs out/measure-store/costs.toml
  ckptsim sweep store_knee --costs out/measure-store/costs.toml
  ckptsim sweep pipeline_interval --costs out/measure-store/costs.toml
  ckptsim measure-store --folder /data/stores --rounds 9 --out costs.toml --json"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    parser.add_argument(
        "--out",
        type=output_file,
        metavar="FILE",
        default="out/measure-store/costs.toml",  # a text: it is looked at like one that was given
        help="where the costs are written, for --costs (default out/measure-store/costs.toml)",
    )
    parser.add_argument(
        "--folder", type=Path, help="a folder on the disk to measure (default a temporary one)"
    )
    parser.add_argument(
        "--repeats",
        type=whole(3, 10_000),
        default=30,
        help="of each small transaction in a round (default 30)",
    )
    parser.add_argument(
        "--rounds",
        type=whole(1, 100),
        default=3,
        help="how often everything is measured; the medians of the rounds count (default 3)",
    )
    parser.add_argument("--json", action="store_true", help="print measurements and costs as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Measure, print the medians, and write the costs that follow."""
    from ckptsim.sim.store.real.measure import costs_of, measure

    if arguments.folder is not None and not arguments.folder.is_dir():
        raise UserError(f"--folder: found {str(arguments.folder)!r}, expected a folder")
    with (
        tempfile.TemporaryDirectory(prefix="ckptsim-measure-", dir=arguments.folder) as folder,
        ProgressBar("measuring") as bar,
    ):
        found = measure(
            Path(folder),
            repeats=arguments.repeats,
            rounds=arguments.rounds,
            progress=lambda _says, done, total: bar(done=done, total=total),
        )
    costs = costs_of(found)
    out = arguments.out
    _write(out, costs_text(costs, _machine(arguments.rounds, arguments.repeats)))
    if arguments.json:
        rows = [asdict(each) for each in found]
        print(json.dumps({"measurements": rows, "costs": costs, "file": str(out)}, indent=1))
        return EXIT_FINE
    print(f"{'step':<60} {'median ms':>10} {'rounds from':>11} {'to':>8} {'p95':>8} {'n':>5}")
    for each in found:
        rounds = f"{each.fastest_round_ns / 1e6:>11.3f} {each.slowest_round_ns / 1e6:>8.3f}"
        times = f"{each.median_ns / 1e6:>10.3f} {rounds} {each.p95_ns / 1e6:>8.3f}"
        print(f"{each.says:<60} {times} {each.n:>5}")
    print("\ncosts of the model:")
    for name, value in costs.items():
        shown = f"{value:,} bytes/s" if name.endswith("_per_s") else duration_text(value)
        print(f"  {name:<20} {shown}")
    print("a remote commit cannot be measured here: it stays as the scenario has it")
    print(f"\nwritten: {out}; try: ckptsim sweep store_knee --costs {out}")
    return EXIT_FINE


def _machine(rounds: int, repeats: int) -> Mapping[str, object]:
    import duckdb

    return {
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        "duckdb": duckdb.__version__,
        "rounds": rounds,
        "repeats": repeats,
    }


def _write(path: Path, text: str) -> None:
    try:
        written_whole(path, text)
    except OSError as error:
        raise UserError(f"--out: cannot write {path}: {error.strerror}") from error
