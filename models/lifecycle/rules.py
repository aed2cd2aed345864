"""The rules in which the design and the released system part, as data that the core runs.

Source: FLIP-147 with its information box on the shut-down rule, read with its added text. Apache
Flink 1.20.3, StreamTask and TwoPhaseCommitSinkFunction.
"""

from __future__ import annotations

from dataclasses import dataclass

from ckptsim.models.lifecycle.states import Variant


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What a variant does.

    stop_awaits_its_savepoint: a stop ends on the completion of exactly its savepoint. If not, on
    the one of any checkpoint that was started after finish().
    abort_repeats_completion: the message that a checkpoint was aborted also counts as the
    notification of the latest completed one, which it repeats.
    close_aborts_precommitted: closing aborts the transactions that are pre-committed and not
    committed. If not, they are left, and only the open one is aborted.
    triggers_after_stop: periodic checkpoints continue when the savepoint of a stop is complete, so
    that a task which has missed its word learns of the next.  Assumption for the design, which lets
    any completion end the wait and does not say that there will be one. The released system
    triggers no more, whence a lost word is waited for without end.
    final_checkpoint_at_once: a checkpoint is triggered when every task has reached the end of its
    data. If not, the job waits for the next periodic one.  Source: FLIP-147: tasks wait for the
    next checkpoint. FLINK-28386 (since Apache Flink 1.18).
    """

    stop_awaits_its_savepoint: bool
    abort_repeats_completion: bool
    close_aborts_precommitted: bool
    triggers_after_stop: bool
    final_checkpoint_at_once: bool


RULES: dict[Variant, Rules] = {
    Variant.FLIP: Rules(
        stop_awaits_its_savepoint=False,
        abort_repeats_completion=False,
        close_aborts_precommitted=True,
        triggers_after_stop=True,
        final_checkpoint_at_once=False,
    ),
    Variant.FLINK: Rules(
        stop_awaits_its_savepoint=True,
        abort_repeats_completion=True,
        close_aborts_precommitted=False,
        triggers_after_stop=False,
        final_checkpoint_at_once=True,
    ),
}
