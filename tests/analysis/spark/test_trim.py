"""The rest out of the project's own environment."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import trim

THERE = {
    "pyspark/jars/rocksdbjni-9.8.4.jar": False,
    "pyspark/jars/hive-exec-2.3.10-core.jar": False,
    "pyspark/jars/hive-storage-api-2.8.1.jar": True,
    "pyspark/jars/spark-core_2.13-4.3.0.jar": True,
    "pyspark/jars/spark-sql_2.13-4.3.0.jar": True,
    "pyspark/jars/spark-yarn_2.13-4.3.0.jar": True,
    "pyspark/jars/kubernetes-client-api-7.6.1.jar": False,
    "pyarrow/libarrow.so.2600": True,
    "pyarrow/libarrow_flight.so.2600": False,
    "pyarrow/tests/parquet/test_basic.py": False,
    "pandas/core/frame.py": True,
    "pandas/tests/frame/test_api.py": False,
    "numpy/linalg/tests/test_linalg.py": False,
    "numpy/testing/__init__.py": True,
    "mine/tests/test_mine.py": True,
}


def test_only_what_is_not_needed_goes(tmp_path: Path) -> None:
    """Jars and folders of foreign uses are removed with all that is in them, and counted."""
    for name in THERE:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"0123456789")
    assert trim.trim(tmp_path) == 10 * sum(not stays for stays in THERE.values())
    assert {name: (tmp_path / name).exists() for name in THERE} == THERE
    assert trim.trim(tmp_path) == 0


def test_another_environment_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What lies outside of a virtual environment is someone else's, and nothing is removed."""
    jar = tmp_path / "pyspark" / "jars" / "rocksdbjni-9.8.4.jar"
    jar.parent.mkdir(parents=True)
    jar.write_bytes(b"jar")
    monkeypatch.setattr("sysconfig.get_path", lambda _name: str(tmp_path))
    with pytest.raises(trim.NotOursError):
        trim.main()
    assert jar.exists()
