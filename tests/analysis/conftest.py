"""One Spark session for all tests that need one, opened by the first of them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from analysis.figures.style import use_private_cache
from analysis.session import spark_session

use_private_cache()  # before the first test module imports matplotlib


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """A local session on two cores: UTC, no web page, two shuffle partitions."""
    with spark_session("local[2]", shuffle_partitions=2) as session:
        yield session
