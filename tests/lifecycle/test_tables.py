"""The lifecycle tables that run are those of FLIP-147, cell by cell."""

from ckptsim.models.lifecycle import EndMode, TaskKind, rules
from ckptsim.models.lifecycle.tables import Act, as_text, waits

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
    assert as_text(TaskKind.SOURCE) == SOURCE


def test_non_source_table_is_the_published_one() -> None:
    """The table of non-source tasks equals the published one in every cell."""
    assert as_text(TaskKind.NON_SOURCE) == NON_SOURCE


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
    assert [row[1:] for row in rules.as_text()] == [
        ("any checkpoint started after finish()", "exactly its savepoint"),
        ("is not looked at", "counts as the notification of its completion"),
        ("are aborted", "are left; only the open one is aborted"),
        ("continue (assumption: the rule needs a next completion)", "have ended"),
        ("is the next periodic one", "is triggered at once"),
    ]
