"""Results of sweeps: tidy frames of their rows, summaries, figures, the report."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ckptsim._api.columns import frame_of, tidy
from ckptsim._api.result import Facts, Result
from ckptsim._api.sweeps.plots import SweepPlots, values_of_points

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import DataFrame, SparkSession

    from ckptsim.analysis.summaries import Summaries

_SENTENCES = 3
_SHOWN = 20


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class SweepResult(Result):
    """The results of a sweep, and the content of its directory.

    skipped: runs that were there already. done: runs of this call. wall_s: its seconds.
    worker_s: the ones of all workers together.
    runs, errors, violated: of all runs that are there, how many there are, how many raised an
    error, and how many violated a property that their scenario does not expect to break.
    names: path of a swept parameter -> the name that its column has. spark: the session that it
    was given.  report: the page with figures, where one was written.
    """

    directory: Path
    skipped: int
    done: int
    wall_s: float
    runs: int
    errors: int
    violated: int
    names: Mapping[str, str] = field(default_factory=dict)
    spark: SparkSession | None = None
    worker_s: float = 0.0
    report: Path | None = None

    @property
    def failed(self) -> bool:
        """Whether a run raised an error, or violated a property unexpectedly."""
        return bool(self.errors or self.violated)

    def frame(self) -> pd.DataFrame:
        """Return one row per run, by point, seed and ties.

        The swept parameters come first, as columns with their own types. Then what the run came to,
        with durations as timedelta64, and the metrics of `summaries` under their names.
        """
        frame = self._tables()["runs"].drop(columns=["parameters"])
        return self._with_parameters(frame, self._metrics())

    def checkpoints(self, *, spark: bool = False) -> Any:
        """Return one row per checkpoint, with the swept parameters, the seed and the ties.

        spark: a Spark DataFrame of the rows as they are, with `run_key` and `parameters`, instead.
        """
        return self._table("checkpoints", spark=spark)

    def recoveries(self, *, spark: bool = False) -> Any:
        """Return one row per recovery. spark: as of `checkpoints`."""
        return self._table("recoveries", spark=spark)

    def violations(self, *, spark: bool = False) -> Any:
        """Return one row per violated property of a run. spark: as of `checkpoints`."""
        return self._table("violations", spark=spark)

    def summaries(self, *, spark: bool = False) -> dict[str, Any]:
        """Return the summaries of the sweep by name, as `ckptsim.analysis.summaries` lists them.

        The swept parameters are columns with their own types, durations are timedelta64.
        spark: Spark DataFrames of the summaries as they are written instead.
        """
        if spark:
            return self._spark_summaries()
        from ckptsim.analysis.summaries import frames

        return {name: self._by_point(one) for name, one in frames(self._store()).items()}

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return the tables as they are written, as `read_tables` does."""
        return dict(self._tables())

    @property
    def answers(self) -> Sequence[str]:
        """The sentences that answer the question."""
        from ckptsim.analysis.answers import answer

        return answer(self.read_summaries()).sentences

    @property
    def cliffs(self) -> list[str]:
        """The sentences on where a metric changes at once."""
        from ckptsim.analysis.answers import cliff_sentences

        return cliff_sentences(self.read_summaries(), self._store())

    def to_dict(self) -> dict[str, Any]:
        """Return what `ckptsim sweep --json` prints."""
        names = ("skipped", "done", "wall_s", "worker_s", "runs", "errors", "violated")
        found = {"out": str(self.directory), **{name: getattr(self, name) for name in names}}
        found |= {"answers": list(self.answers), "cliffs": self.cliffs}
        return found if self.report is None else {**found, "report": str(self.report)}

    @property
    def text(self) -> str:
        """How many runs were made, the answers, errors and violations, and where all of it is."""
        return self.told()

    def told(self, *, saved: Path | None = None) -> str:
        """Return the text. saved: the file of the plan, where it was written."""
        there = f", {self.skipped} were there already" if self.skipped else ""
        rate = self.done / self.wall_s if self.wall_s else 0.0
        lines = [f"{self.done} runs in {self.wall_s:.1f} s ({rate:.1f} per second){there}"]
        lines += [self.answers_text, "", *self._went_wrong()]
        lines += [] if saved is None else [f"plan: {saved}"]
        lines.append(f"tables: {self.directory}")
        if self.report is None:
            return "\n".join([*lines, f"next: ckptsim report {self.directory}"])
        opened = f"open it: ckptsim report {self.directory} --open"
        return "\n".join([*lines, f"report: {self.report}", opened])

    @property
    def answers_text(self) -> str:
        """The answers as they are printed, after an empty line."""
        from ckptsim.analysis.answers import printed

        return "\n".join(["", *printed(self.read_summaries(), self.cliffs)])

    def _went_wrong(self) -> list[str]:
        from ckptsim.analysis.answers import paragraph, violations_of

        lines, findings = [], self.read_summaries()
        if self.errors:
            first = findings.errors.iloc[0]
            text = str(first["error"]).partition("\n")[0]
            says = f"{self.errors:,} of {self.runs:,} runs ended in an error, such as: {text}"
            lines += [*paragraph(says), f"  replay: {first['replay']}"]
        if self.violated:
            rows = violations_of(findings, expected=False)
            names = ", ".join(dict.fromkeys(str(row["property"]) for row in rows))
            says = f"{self.violated:,} of {self.runs:,} runs violate a property: {names}"
            lines += paragraph(f"{says}; {rows[0]['says']}" if rows else says)
            lines += [f"  replay: {rows[0]['replay']}"] if rows else []
        return lines

    @property
    def plot(self) -> SweepPlots:
        """The figures of the report, one by one."""
        return SweepPlots(self)

    def read_summaries(self) -> Summaries:
        """Return the summaries with swept parameters in words, as figures and answers read them."""
        from ckptsim.analysis.summaries import read

        return read(self._store())

    def _facts(self) -> Facts:
        store = self._store()
        axes: Any = store.swept()["axes"]
        swept = [f"{self.column(path)} ({len(values)})" for path, values in axes]
        return [
            ("directory", self.directory),
            ("swept", " x ".join(swept) or "nothing"),
            ("runs", f"{self.runs}, {self.done} of this call in {self.wall_s:.1f} s"),
            ("errors", self.errors),
            ("violated", f"{self.violated} run(s)"),
            *(("answer", sentence) for sentence in self.answers[:_SENTENCES]),
            ("next", "frame(), checkpoints(), summaries(), plot.duration(), ckptsim.report(...)"),
        ]

    def _shown(self) -> dict[str, Any]:
        found = self.read_summaries()
        axes = list(found.axes)
        wide = found.latency.pivot_table(
            index=["scenario", "parameters"],
            columns="probability",
            values="latency_ns",
            dropna=False,
            sort=False,
        )
        rows = []
        for key, row in list(wide.iterrows())[:_SHOWN]:
            values = json.loads(key[1])  # type: ignore[index]
            counts = found.latency[found.latency["parameters"] == key[1]]  # type: ignore[index]
            times = [_ms(row.get(p)) for p in (0.5, 0.95)]
            rows.append([*(values.get(name, "") for name in axes), *times, counts["n"].iloc[0]])
        return {"head": [*axes, "median", "95 %", "n"], "rows": rows}

    def column(self, path: str) -> str:
        """Return the name that the column of a swept parameter has."""
        return self.names.get(path, path)

    def _store(self) -> Any:
        from ckptsim.analysis.tables.store import SweepStore

        return SweepStore(self.directory)

    def _tables(self) -> dict[str, pd.DataFrame]:
        from ckptsim.analysis.tables.frames import frames

        return frames(self._store())

    def _session(self) -> SparkSession:
        from ckptsim._api.sweeps.verbs import kept_session

        return self.spark or kept_session()

    def _table(self, table: str, *, spark: bool) -> Any:
        if spark:
            return self._spark_table(table)
        tables = self._tables()
        runs = tables["runs"][["run_key", "scenario", "seed", "ties"]]
        frame = tables[table].merge(runs, on="run_key", how="left", validate="many_to_one")
        return self._with_parameters(frame)

    def _spark_table(self, table: str) -> DataFrame:
        from ckptsim.analysis.summaries.rows import is_shared, rows_of

        session, store = self._session(), self._store()
        found = rows_of(session, store, by_path=is_shared(session, self.directory))
        runs = found["runs"].select("run_key", "scenario", "parameters", "seed", "ties")
        joined: DataFrame = runs.join(found[table], "run_key")
        return joined

    def _spark_summaries(self) -> dict[str, DataFrame]:
        import pyarrow as pa

        from ckptsim.analysis.summaries.rows import points_of
        from ckptsim.analysis.summaries.schema import SUMMARIES
        from ckptsim.analysis.tables.aggregates import files_of
        from ckptsim.analysis.tables.pieces import read_table

        session = self._session()
        found: dict[str, DataFrame] = {}
        points = points_of(session, self._store().points())
        for name in SUMMARIES:
            parts = [read_table(path) for path in files_of(self.directory, name)]
            table = session.createDataFrame(pa.concat_tables(parts))
            has_points = "point" in table.columns
            found[name] = points.join(table, "point") if has_points else table
        return found

    def _metrics(self) -> pd.DataFrame:
        from ckptsim.analysis.summaries import frames

        return tidy(frames(self._store())["metrics"])

    def _with_parameters(
        self, frame: pd.DataFrame, metrics: pd.DataFrame | None = None
    ) -> pd.DataFrame:
        runs = self._tables()["runs"][["run_key", "parameters"]]
        found = self._by_point(frame.merge(runs, on="run_key"), ["seed", "ties"])
        if metrics is not None:
            own = [name for name in metrics if name in found and name != "run_key"]
            more = metrics.drop(columns=[*own, "parameters"])
            found = found.merge(more, on="run_key", how="left", validate="one_to_one")
        return found

    def _by_point(self, frame: pd.DataFrame, then: Sequence[str] = ()) -> pd.DataFrame:
        import pandas as pd

        if "parameters" not in frame:
            return tidy(frame)
        store = self._store()
        values = values_of_points(store.points(), store.swept())
        pairs = zip(frame["scenario"], frame["parameters"], strict=True)
        places = [values.place(scenario, parameters) for scenario, parameters in pairs]
        frame = frame.assign(_point=places).sort_values(["_point", *then], kind="stable")
        head = pd.DataFrame(values.columns(self.column)).iloc[frame["_point"]]
        found = tidy(frame.drop(columns=["_point", "parameters"]).reset_index(drop=True))
        found = found.drop(columns=[name for name in head.columns if name in found.columns])
        return pd.concat([head.reset_index(drop=True), found], axis=1)


def _ms(value: Any) -> str:
    return "-" if value is None or value != value else f"{value / 1e6:,.1f} ms"  # noqa: PLR0124


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Report(Result):
    """A page with figures and answers, made of the sweeps in a directory."""

    path: Path
    sweeps: Sequence[SweepResult]

    def frame(self) -> pd.DataFrame:
        """Return one row per sweep: its directory, runs, errors and violations."""
        rows = [(str(one.directory), one.runs, one.errors, one.violated) for one in self.sweeps]
        return frame_of(rows, ("directory", "runs", "errors", "violated"))

    def to_dict(self) -> dict[str, Any]:
        """Return the path of the page, and each sweep with its answers."""
        return {"report": str(self.path), "sweeps": [one.to_dict() for one in self.sweeps]}

    @property
    def plot(self) -> SweepPlots:
        """The figures of the first sweep."""
        return self.sweeps[0].plot

    def _facts(self) -> Facts:
        answers = [("answer", text) for one in self.sweeps for text in one.answers]
        return [("page", self.path), ("sweeps", len(self.sweeps)), *answers]

    def _shown(self) -> dict[str, Any]:
        return {"link": self.path.as_posix()}
