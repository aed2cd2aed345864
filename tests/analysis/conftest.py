"""One Spark session for all tests that need one, opened by the first of them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from ckptsim.analysis.figures.style import use_private_cache
from ckptsim.analysis.spark.session import spark_session

use_private_cache()  # before the first test module imports matplotlib


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """A local session on two cores: UTC, no web page, two shuffle partitions."""
    with pytest.MonkeyPatch.context() as patch:
        # Workers run worlds that are defined in tests.
        root = Path(__file__).parents[2]
        patch.setenv("PYTHONPATH", os.pathsep.join([str(root / "src"), str(root)]))
        with spark_session("local[2]", shuffle_partitions=2) as session:
            yield session
