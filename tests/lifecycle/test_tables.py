"""The lifecycle tables that run are the ones of FLIP-147, and `explain` prints them."""

from __future__ import annotations

import json

import pytest

from ckptsim._api.pages.tables import HEADER, lifecycle_diagram, lifecycle_rows, variant_rows
from ckptsim.models.lifecycle import EndMode, TaskKind
from ckptsim.models.lifecycle.tables import Act, waits
from ckptsim.sim.cli.main import main

ADVANCE = "advance to MAX_WATERMARK and fire all event timers"
AWAIT_CP = "wait for checkpoint or savepoint completed"
AWAIT_ACK = "wait for downstream to acknowledge EndOfData"
AWAIT_EOP = "wait for EndOfPartition"
TRUE, FALSE = "emit EndOfData[finished=true]", "emit EndOfData[finished=false]"
RUN, WAIT, END = ("RUNNING", "RUNNING"), ("WAITING_FOR_FINAL_CP", "FINISHED"), ("CLOSED", "CLOSED")

SOURCE = [
    ("start", *RUN, "-", "-", "-"),
    ("no more records, or savepoint trigger received", *RUN, "-", "finish task", "finish task"),
    ("", *RUN, ADVANCE, ADVANCE, "-"),
    ("", *RUN, "emit MAX_WATERMARK", "emit MAX_WATERMARK", "-"),
    ("", *WAIT, "endInput() and finish()", "endInput() and finish()", "-"),
    ("", *WAIT, TRUE, TRUE, FALSE),
    ("checkpoint triggered, or aligned on barrier", *WAIT, *["emit barrier"] * 3),
    ("", *WAIT, *[AWAIT_CP] * 3),
    ("checkpoint completed", *WAIT, *[AWAIT_ACK] * 3),
    ("every wait is over", *END, *["close()"] * 3),
    ("", *END, *["emit EndOfPartition"] * 3),
]
NON_SOURCE = [
    ("start", *RUN, "-", "-", "-"),
    ("aligned on MAX_WATERMARK", *RUN, ADVANCE, ADVANCE, "-"),
    ("", *RUN, "emit MAX_WATERMARK", "emit MAX_WATERMARK", "-"),
    ("aligned on EndOfData", *WAIT, "endInput() and finish()", "endInput() and finish()", "-"),
    ("", *WAIT, TRUE, TRUE, FALSE),
    ("checkpoint triggered, or aligned on barrier", *WAIT, *["emit barrier"] * 3),
    ("", *WAIT, *[AWAIT_CP] * 3),
    ("checkpoint completed", *WAIT, *[AWAIT_ACK] * 3),
    ("", *WAIT, *[AWAIT_EOP] * 3),
    ("every wait is over", *END, *["close()"] * 3),
    ("", *END, *["emit EndOfPartition"] * 3),
]


def test_source_table_is_the_published_one() -> None:
    """The table of source tasks equals the published one in every cell."""
    assert lifecycle_rows(TaskKind.SOURCE) == SOURCE


def test_non_source_table_is_the_published_one() -> None:
    """The table of non-source tasks equals the published one in every cell."""
    assert lifecycle_rows(TaskKind.NON_SOURCE) == NON_SOURCE


def test_waits_are_a_conjunction_read_off_the_table() -> None:
    """A source waits for completion and acknowledgement, any other task also for its inputs."""
    for mode in EndMode:
        assert waits(TaskKind.SOURCE, mode) == (Act.AWAIT_CHECKPOINT, Act.AWAIT_ACKNOWLEDGEMENT)
        assert waits(TaskKind.NON_SOURCE, mode) == (
            Act.AWAIT_CHECKPOINT,
            Act.AWAIT_ACKNOWLEDGEMENT,
            Act.AWAIT_END_OF_PARTITION,
        )


def test_the_variants_part_where_the_published_comparison_says() -> None:
    """The design takes any completion for a stop, repeats none in an abort and aborts all.

    It asks for no checkpoint at the end of data, either.
    """
    assert [row[1:] for row in variant_rows()] == [
        ("any checkpoint started after finish()", "exactly its savepoint"),
        ("is not looked at", "counts as the notification of its completion"),
        ("are aborted", "are left; only the open one is aborted"),
        ("continue (assumption: the rule needs a next completion)", "have ended"),
        ("is the next periodic one", "is triggered at once"),
    ]


def test_explain_prints_every_cell_of_the_tables(capsys: pytest.CaptureFixture[str]) -> None:
    """The JSON of the topic has both tables, cell by cell, and the parameters of the link."""
    assert main(["explain", "final_checkpoint", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    for kind in TaskKind:
        rows = data["lifecycle"][kind.name.lower()]
        assert [tuple(row[head] for head in HEADER) for row in rows] == lifecycle_rows(kind)
        assert data["diagrams"][kind.name.lower()] == lifecycle_diagram(kind)
    assert [row["rule"] for row in data["variants"]] == [row[0] for row in variant_rows()]
    assert any(row["path"] == "job.ending.protocol" for row in data["parameters"])


def test_explain_prints_the_tables_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    """Both tables are there, in lines that fit a wide terminal."""
    assert main(["explain", "final_checkpoint"]) == 0
    out = capsys.readouterr().out
    tables = out[: out.index("A row without")]
    assert "Lifecycle of source tasks" in tables
    assert tables.count("WAITING_FOR_FINAL_CP") == 11
    assert max(len(line) for line in tables.splitlines()) <= 150


def test_the_diagram_has_a_transition_per_cue() -> None:
    """A source runs, waits and closes. Checkpoints are loops of the waiting state."""
    lines = lifecycle_diagram(TaskKind.SOURCE).splitlines()
    arrows = [line.split(":")[0].strip() for line in lines[1:]]
    assert arrows == [
        "[*] --> RUNNING",
        "RUNNING --> WAITING_FOR_FINAL_CP",
        "WAITING_FOR_FINAL_CP --> WAITING_FOR_FINAL_CP",
        "WAITING_FOR_FINAL_CP --> WAITING_FOR_FINAL_CP",
        "WAITING_FOR_FINAL_CP --> CLOSED",
        "CLOSED --> [*]",
    ]
    assert "finish task (drain, no drain)" in lines[2]
