"""Exploring on Spark: the same runs, reports and files as on one process."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from ckptsim.analysis.sweeps.exploring import rounds_on_spark
from ckptsim.sim.cli import main
from ckptsim.sim.search.explore import Corpus, Explorer, Exploring, explore

HOW = Exploring(seed=3, runs=40)


@pytest.mark.spark
def test_reports_do_not_depend_on_partitions(spark: SparkSession) -> None:
    """Digest, coverage, goals and corpus are the ones of one process, over two rounds."""
    explorer = Explorer(link="ordering")
    found = []
    for partitions in (0, 3):
        corpus = Corpus()
        workers = (
            rounds_on_spark(spark.sparkContext, explorer, HOW.seed, partitions=partitions)
            if partitions
            else None
        )
        report = explore(explorer, HOW, corpus, workers=workers)
        report.seconds = 0.0
        found.append((report, corpus.entries))
    assert found[0] == found[1]
    assert found[0][0].runs == HOW.runs
    assert len(found[0][1]) > 1


@pytest.mark.spark
def test_the_command_explores_on_spark(
    spark: SparkSession,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A mutant breaks the same property in the same run, and the session is not ours to end."""
    monkeypatch.chdir(tmp_path)
    words = ["check", "ordering", "--explore", "--json", "--mutant", "no_ordering"]
    documents = []
    for more in (["--jobs", "1"], ["--master", "local[2]", "--partitions", "3"]):
        assert main([*words, *more]) == 1
        documents.append(json.loads(capsys.readouterr().out))
        assert documents[-1].pop("seconds") > 0
    assert documents[0] == documents[1]
    assert spark.sparkContext.parallelize([1, 2]).sum() == 3
