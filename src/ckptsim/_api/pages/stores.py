"""Store files: their contents, and the costs of a store on this machine."""

from __future__ import annotations

import os
import platform
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ckptsim._api.columns import frame_of, tidy
from ckptsim._api.result import CountPlots, Facts, Result
from ckptsim.scenarios.dialect import duration_text
from ckptsim.scenarios.errors import UserError
from ckptsim.scenarios.files import costs_text, written_whole
from ckptsim.sim.extras import extras_explained

if TYPE_CHECKING:
    import pandas as pd

    from ckptsim.sim.store.real.runs import StoreContents as Contents


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class StoreContents(Result):
    """The content of a store file: its partitions, and whether their checkpoints are whole."""

    contents: Contents

    @property
    def damaged(self) -> bool:
        """Whether the checkpoint of a partition is damaged."""
        return any(one.damage is not None for one in self.contents.partitions)

    @property
    def failed(self) -> bool:
        """Whether the checkpoint of a partition is damaged."""
        return self.damaged

    def frame(self) -> pd.DataFrame:
        """Return one row per partition: rows, position, bytes of the checkpoint, damage."""
        rows = [
            (
                str(one.key),
                one.rows,
                getattr(one.checkpoint, "position", None),
                one.blob_bytes,
                one.damage,
            )
            for one in self.contents.partitions
        ]
        return frame_of(rows, ("partition", "rows", "position", "blob_bytes", "damage"))

    def sql(self, question: str) -> pd.DataFrame:
        """Ask the tables `checkpoints`, `data` and `runs` in SQL. Raises UserError."""
        names, rows = asked(self.contents.path, question)
        return frame_of(rows, names)

    def to_dict(self) -> dict[str, Any]:
        """Return what `ckptsim store --json` prints."""
        return asdict(self.contents) | {"path": str(self.contents.path)}

    @property
    def plot(self) -> CountPlots:
        """How many rows each partition has."""
        return CountPlots({str(one.key): one.rows for one in self.contents.partitions}, "rows")

    @property
    def text(self) -> str:
        """A row per partition, with its checkpoint."""
        about = ", ".join(f"{name} {value}" for name, value in self.contents.about.items())
        lines = [
            f"{self.contents.path}: {about}",
            f"{'partition':<40} {'rows':>8} {'position':>10} {'blob bytes':>10}  checkpoint",
        ]
        for one in self.contents.partitions:
            position = "-" if one.checkpoint is None else str(one.checkpoint.position)
            size = "-" if one.blob_bytes is None else str(one.blob_bytes)
            lines.append(f"{one.key!s:<40} {one.rows:>8} {position:>10} {size:>10}  {_state(one)}")
        return "\n".join(lines)

    def _facts(self) -> Facts:
        partitions = [
            (str(one.key), f"{one.rows} rows{', DAMAGED' if one.damage else ''}")
            for one in self.contents.partitions
        ]
        return [("file", self.contents.path), *self.contents.about.items(), *partitions]


def _state(one: Any) -> str:
    if one.checkpoint is not None:
        return "end of push" if one.checkpoint.end_of_push else "no end of push"
    if one.damage is not None:
        return f"DAMAGED: {one.damage}"
    return "none" if one.blob_bytes is None else "a blob of the user's"


def store(file: str | Path) -> StoreContents:
    """Look into a store file with the extra `store`, unchanged. Raises UserError."""
    with extras_explained():
        from ckptsim.sim.store.real import inspect_store

        return StoreContents(contents=inspect_store(Path(file)))


def asked(file: str | Path, question: str) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Return the columns and rows of a question in SQL. Raises UserError."""
    with extras_explained():
        from ckptsim.sim.store.real.query import query

        return query(file, question)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Costs(Result):
    """What a store's steps cost here, for a scenario or plan. machine: the measured values."""

    measurements: Sequence[Any]
    costs: Mapping[str, int]
    machine: Mapping[str, object]

    def save(self, path: str | Path) -> Path:
        """Write the costs as a file for `--costs` and `sweep(costs=...)`."""
        written_whole(Path(path), costs_text(self.costs, self.machine))
        return Path(path)

    def frame(self) -> pd.DataFrame:
        """Return one row per step: n, median, 95th percentile."""
        return tidy(frame_of([asdict(one) for one in self.measurements]))

    def to_dict(self) -> dict[str, Any]:
        """Return the measurements and the costs."""
        rows = [asdict(one) for one in self.measurements]
        return {"measurements": rows, "costs": dict(self.costs)}

    @property
    def plot(self) -> CountPlots:
        """The median of each step, with its n."""
        counts = {f"{one.says} (n = {one.n})": one.median_ns for one in self.measurements}
        return CountPlots(counts, "median [ns]")

    @property
    def text(self) -> str:
        """The medians of all steps, and the costs that follow."""
        head = ("median ms", "rounds from", "to", "p95")
        lines = [f"{'step':<60} {head[0]:>10} {head[1]:>11} {head[2]:>8} {head[3]:>8} {'n':>5}"]
        for one in self.measurements:
            rounds = f"{one.fastest_round_ns / 1e6:>11.3f} {one.slowest_round_ns / 1e6:>8.3f}"
            times = f"{one.median_ns / 1e6:>10.3f} {rounds} {one.p95_ns / 1e6:>8.3f}"
            lines.append(f"{one.says:<60} {times} {one.n:>5}")
        lines.append("\ncosts of the model:")
        for name, value in self.costs.items():
            shown = f"{value:,} bytes/s" if name.endswith("_per_s") else duration_text(value)
            lines.append(f"  {name:<20} {shown}")
        lines.append("a remote commit cannot be measured here: it stays as the scenario has it")
        return "\n".join(lines)

    def _facts(self) -> Facts:
        return [
            (one.says, f"median {one.median_ns / 1e6:.3f} ms (n = {one.n})")
            for one in self.measurements
        ]


def measure_store(
    *,
    folder: str | Path | None = None,
    repeats: int = 30,
    rounds: int = 3,
    progress: Callable[[str, int, int], None] | None = None,
) -> Costs:
    """Measure real checkpoint stores on this machine, and return costs for the model.

    folder: on the disk to measure. Without one a temporary one.  repeats: of each transaction in a
    round. rounds: how often all is measured.  progress: called with a step, steps done and all.

    Raises UserError for a folder that is not there, or when the extra `store` is not installed.
    """
    if folder is not None and not Path(folder).is_dir():
        raise UserError(f"folder: found {str(folder)!r}, expected a folder")
    with (
        extras_explained(),
        tempfile.TemporaryDirectory(prefix="ckptsim-measure-", dir=folder) as place,
    ):
        from ckptsim.sim.store.real.measure import costs_of, measure

        found = measure(
            Path(place),
            repeats=repeats,
            rounds=rounds,
            progress=progress or (lambda _says, _done, _total: None),
        )
        about = _machine() | {"rounds": rounds, "repeats": repeats}
        return Costs(measurements=found, costs=costs_of(found), machine=about)


def _machine() -> dict[str, object]:
    import duckdb

    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"
    return {"machine": machine, "duckdb": duckdb.__version__}
