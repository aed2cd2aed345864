"""What the commands of docs/hazards.md promise, and the checks that promises are made of."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

Check = Callable[[str], None]
LONG = pytest.mark.long
KEEPS = "single_channel_keeps_the_clock"
CLOSES = "VIOLATED closes_when_all_is_over"
TRACKER = "ckptsim check flink_23201_tracker_clock --ties random,pct --seeds 60"


def has(*wanted: str) -> Check:
    """Return a check that a text has these words."""

    def check(text: str) -> None:
        for each in wanted:
            assert each in text

    return check


def matches(pattern: str) -> Check:
    """Return a check that a line of a text matches."""

    def check(text: str) -> None:
        assert re.search(pattern, text, re.MULTILINE), text[-2000:]

    return check


# Command, exit code, check of its output, marks.
HAZARDS: list[tuple[str, int, Check, list[pytest.MarkDecorator]]] = [
    *[
        (command, 0, matches(r"^as expected +broke stop_ends in \d+$"), [])
        for command in (
            "ckptsim check stop_overtaken_at_once --ties random,pct --seeds 60",
            "ckptsim check stop_overtaken_at_once --ties exhaustive --seeds 1 --orders 400",
        )
    ],
    (
        "ckptsim hunt stop_overtaken_at_once --property stop_ends --out smallest",
        1,
        has("VIOLATED stop_ends"),
        [LONG],
    ),
    (
        "ckptsim replay stop_overtaken_at_once --seed 5 --ties random",
        0,
        has("VIOLATED stop_ends", "sequence.mmd"),
        [],
    ),
    (
        "ckptsim check late_trigger_at_once --ties random,pct --seeds 60",
        0,
        matches("^violations +none$"),
        [],
    ),
    *[
        (f"{command} --mutant skipped_trigger_sets_minimum{rest}", 1, has(CLOSES), [])
        for command, rest in (
            (
                "ckptsim check late_trigger_at_once --ties exhaustive --seeds 1 --orders 400",
                "",
            ),
            ("ckptsim check late_trigger_at_once --ties random,pct --seeds 60", ""),
            ("ckptsim replay late_trigger_at_once --seed 5 --ties random", ""),
        )
    ],
    (
        "ckptsim check single_channel_clock --seeds 60",
        0,
        matches(rf"^as expected +broke {KEEPS} in 60$"),
        [],
    ),
    (
        f"ckptsim hunt single_channel_clock --property {KEEPS} --out smallest",
        1,
        has(f"VIOLATED {KEEPS}"),
        [LONG],
    ),
    (
        "ckptsim replay single_channel_clock --seed 0",
        0,
        has(f"VIOLATED {KEEPS}"),
        [],
    ),
    (
        TRACKER,
        0,
        matches("^violations +none$"),
        [],
    ),
    (
        f"{TRACKER} --mutant tracker_stops_any_clock",
        1,
        has("VIOLATED given_up_for_a_cause"),
        [],
    ),
    (
        "ckptsim check savepoint_behind_closed_tasks --seeds 20",
        0,
        matches("^as expected +broke closed_tasks_leave_nothing_queued in 20"),
        [],
    ),
    (
        "ckptsim replay savepoint_behind_closed_tasks --seed 0",
        0,
        has("VIOLATED closed_tasks_leave_nothing_queued"),
        [],
    ),
    (
        "ckptsim run savepoint_behind_closed_tasks --set job.checkpointing.enabled=true",
        0,
        matches("^violations +0$"),
        [],
    ),
    (
        "ckptsim check watermark_outlives_its_share --seeds 20",
        0,
        matches("^as expected +broke restored_watermarks_stay_true in 20"),
        [],
    ),
    (
        "ckptsim replay watermark_outlives_its_share --seed 0",
        0,
        has("VIOLATED restored_watermarks_stay_true"),
        [],
    ),
    (
        "ckptsim run watermark_outlives_its_share --set job.checkpointing.mode=aligned",
        0,
        matches("^violations +0$"),
        [],
    ),
    (
        "ckptsim check given_up_checkpoint_blocks --seeds 20",
        0,
        matches("^as expected +broke given_up_checkpoints_free_channels in 20"),
        [],
    ),
    (
        "ckptsim replay given_up_checkpoint_blocks --seed 0",
        0,
        has("VIOLATED given_up_checkpoints_free_channels"),
        [],
    ),
    (
        "ckptsim run given_up_checkpoint_blocks --set job.checkpointing.timeout=10min",
        0,
        matches("^violations +0$"),
        [],
    ),
    (
        "ckptsim run given_up_checkpoint_blocks --set job.checkpointing.mode=unaligned",
        0,
        matches("^violations +0$"),
        [],
    ),
    (
        "ckptsim check large_record_blocks --seeds 20",
        0,
        matches("^as expected +broke records_let_triggers_pass in 20"),
        [],
    ),
    (
        "ckptsim replay large_record_blocks --seed 0",
        0,
        has("VIOLATED records_let_triggers_pass"),
        [],
    ),
    *(
        (
            f"ckptsim run large_record_blocks --set job.{change}",
            0,
            matches("^violations +0$"),
            [],
        )
        for change in ("network.max_overdraft_buffers=12", "checkpointing.mode=aligned")
    ),
    (
        "ckptsim check failed_part_of_shared_file --seeds 20",
        0,
        matches("^as expected +broke closed_tasks_owe_no_shared_file in [1-9]"),
        [],
    ),
    (
        "ckptsim replay failed_part_of_shared_file --seed 9 --ties random",
        0,
        has("VIOLATED closed_tasks_owe_no_shared_file"),
        [],
    ),
    (
        (
            "ckptsim check failed_part_of_shared_file --seeds 20 "
            "--set job.checkpointing.subtasks_per_file=1"
        ),
        1,
        has("should break and did not"),
        [],
    ),
    (
        "ckptsim check b13_ids_collide_across_feeds --ties random,pct --seeds 20",
        0,
        matches("^as expected +broke release_is_deterministic in 20"),
        [],
    ),
    (
        "ckptsim replay b13_ids_collide_across_feeds --seed 0 --ties random",
        0,
        has("VIOLATED release_is_deterministic"),
        [],
    ),
    (
        "ckptsim check counts_too_few --ties random,pct --seeds 40",
        0,
        matches("^as expected +broke no_premature_acknowledgement in [1-9]"),
        [],
    ),
    (
        "ckptsim replay counts_too_few --seed 0",
        0,
        has("VIOLATED no_premature_acknowledgement"),
        [],
    ),
    (
        "ckptsim check switched_back_to_newer --seeds 20",
        0,
        matches("^as expected +broke content_converges in 20"),
        [],
    ),
    (
        "ckptsim replay switched_back_to_newer --seed 0",
        0,
        has("VIOLATED content_converges"),
        [],
    ),
    (
        "ckptsim run switched_back_to_newer --set 'faults[1].at=3500 ms'",
        0,
        matches("^violations +0$"),
        [],
    ),
    (
        "ckptsim check deletes_compacted_away --seeds 20",
        0,
        matches("^as expected +broke content_converges in 20"),
        [],
    ),
    (
        "ckptsim replay deletes_compacted_away --seed 0",
        0,
        has("VIOLATED content_converges"),
        [],
    ),
]
