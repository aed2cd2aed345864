"""The pages of `ckptsim explain` about barriers."""

from __future__ import annotations

import json

import pytest

from ckptsim.sim.cli.main import main


def test_the_state_tables_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    """One line per state and input, for each handler."""
    assert main(["explain", "barrier-states"]) == 0
    out = capsys.readouterr().out
    assert "WAITING + BARRIER: block; if FULL: trigger, resume_all -> WAITING; -> COLLECTING" in out
    assert main(["explain", "barrier-states", "--json"]) == 0
    tables = json.loads(capsys.readouterr().out)
    assert [len(rows) for rows in tables.values()] == [12, 24, 12]


def test_edges_say_whether_barriers_may_overtake(capsys: pytest.CaptureFixture[str]) -> None:
    """Keyed edges may, forward edges may not."""
    assert main(["explain", "edges", "--json"]) == 0
    rows = {row["partitioner"]: row for row in json.loads(capsys.readouterr().out)}
    assert rows["KeyGroupStreamPartitioner"]["barriers may overtake"] == "yes"
    assert rows["ForwardPartitioner"]["barriers may overtake"] == "no"
    assert rows["ForwardForUnspecifiedPartitioner"]["input state"] == "undecided"
