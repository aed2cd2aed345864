"""Each sweep over jobs that end gives all that is published of it, in closed form or in the mean.

The plans are the ones of the library, so `ckptsim sweep` gives the same numbers.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable
from fractions import Fraction
from statistics import fmean

import pytest

from ckptsim.sim.rows import RunResult
from tests.job.records.ends.closed_forms import TENTH_NS, Chain, chain, closes, count, naive_closes
from tests.job.records.ends.swept import Values, swept
from tests.job.records.small import MS, closes_ns

S = 1_000_000_000
TIMEOUT = 30  # tenths: 2.5 s, noticed when the record under way is done
WAITS = {"aligned": None, "unaligned": 0, "aligned_timeout": TIMEOUT}


def milliseconds(result: RunResult) -> list[int]:
    """Return when each task closed, in whole milliseconds."""
    return [instant // MS for instant in closes_ns(result)]


def test_one_checkpoint_closes_a_chain_of_any_depth_and_the_naive_one_needs_one_per_task() -> None:
    """S1 and S2: N = 1 and the end after one hop per task. Without EndOfData N = D + 1."""
    for values, result in swept("final_by_depth"):
        depth = values["repeat"] + 1
        naive = values["protocol"] == "naive"
        assert result.run.finishing_checkpoints == (depth + 1 if naive else 1)
        rest_ns = depth * 10 * S if naive else depth * S // 10
        assert result.run.finishing_ns == (5 + 1) * S + rest_ns


def chain_of(values: Values) -> Chain:
    """Return the chain of a point of the plans on how long finishing takes."""
    by_interval = "interval" in values
    return chain(
        depth=values.get("repeat", 3) + 1,
        backlog=values.get("preloaded_records", 3),
        first=260 if by_interval else 300,
        interval=10 * int(values["interval"].split()[0]) if by_interval else 100,
        waits=WAITS[values["mode"]],
    )


@pytest.mark.parametrize("plan", ["finishing_depth", "finishing_backlog", "finishing_interval"])
def test_time_to_finish_is_that_of_the_closed_form(plan: str) -> None:
    """S3 and S4: every task closes, after a backlog, to the instant where it must."""
    for values, result in swept(plan):
        expected: Callable[[Chain], list[int]] = (
            naive_closes if values["protocol"] == "naive" else closes
        )
        found = [instant // TENTH_NS for instant in closes_ns(result)]
        assert found == expected(chain_of(values)), values
        assert result.run.finishing_checkpoints == count(chain_of(values), expected), values


@pytest.mark.parametrize("plan", ["finishing_depth", "finishing_backlog"])
def test_one_long_checkpoint_stands_against_many_short_ones(plan: str) -> None:
    """S3 and S4: aligned N = 1 that lasts T_D - k0 + c. Unaligned N = 1 + ceil((T_D - k0) / I)."""
    for values, result in swept(plan):
        if values["protocol"] == "naive" or values["mode"] == "aligned_timeout":
            continue
        behind = max(0, chain_of(values).ends[-1] - 300) * TENTH_NS
        longest = max((row.completed_ns or 0) - row.triggered_ns for row in result.checkpoints)
        aligned = values["mode"] == "aligned"
        assert longest == S + (behind if aligned else 0)
        expected = 1 if aligned else 1 + math.ceil(Fraction(behind, 10 * S))
        assert result.run.finishing_checkpoints == expected


def test_wait_is_uniform_in_the_interval_unless_a_checkpoint_is_triggered_at_once() -> None:
    """S5: the mean extra wait is half an interval and c. With the immediate trigger it is c."""
    waits: dict[bool, list[int]] = {False: [], True: []}
    for values, result in swept("final_by_phase"):
        assert result.run.finishing_ns is not None
        waits[values["immediate_final"]].append(result.run.finishing_ns - 4 * S // 10)
    assert fmean(waits[False]) == 5 * S + S
    assert set(waits[True]) == {S}


def test_gain_of_the_immediate_trigger_goes_with_one_endless_source() -> None:
    """S5: the bounded branch waits for the next periodic checkpoint in either case."""
    assert {milliseconds(result)[0] for _, result in swept("final_beside_endless")} == {20}


def test_joint_operator_runs_on_until_its_other_input_has_ended() -> None:
    """S6: the short branch closes after one checkpoint. Event time waits until both end."""
    for values, result in swept("final_by_branch", keep_trace=True):
        ended = values["records"]
        rest = 20 * math.ceil((ended + 1) / 20)
        assert milliseconds(result) == [20, rest, rest, rest]
        advanced = [
            e[0] // MS for e in result.trace if e[1:4] == ("called", "task join[0]", "advance")
        ]
        assert advanced == [ended]


def taking_part(result: RunResult) -> dict[int, list[str]]:
    """Return per checkpoint the tasks that acknowledged it, in order."""
    found = defaultdict(list)
    for row in result.task_checkpoints:
        found[row.checkpoint_id].append(f"{row.task}{row.subtask}")
    return dict(found)


def test_subtasks_close_each_at_its_own_next_checkpoint() -> None:
    """S7: plans shrink by them. Pointwise successors are triggered directly, others never alone."""
    for values, result in swept("final_by_subtask"):
        ends = [15 + values["records_step"] * subtask for subtask in range(4)]
        own = [10 * math.ceil(end / 10) for end in ends]
        found = milliseconds(result)
        if values["partitioner"] == "forward":
            assert found == own + [instant + 15 for instant in own]
        # The trigger before the end of every subtask goes to all, that after it to the others.
        for place, instant in enumerate(own):
            numbers = [row.checkpoint_id for row in result.checkpoints if row.triggered_ns // MS]
            later = [n for n in numbers if result.checkpoints[n - 1].triggered_ns // MS > instant]
            assert all(f"source{place}" not in taking_part(result).get(n, ()) for n in later)
        if values["partitioner"] == "forward":
            assert result.goals["triggered_by_remote_call_below_finished"] == 4
            assert taking_part(result)[3] == [
                *("source1", "source2", "source3"),
                *("sink0", "sink1", "sink2", "sink3"),
            ]


def test_union_state_lets_no_checkpoint_complete_between_first_and_last_end() -> None:
    """S8: the longest gap is from the first to the last end, and one checkpoint ends them all."""
    for values, result in swept("final_with_union_state"):
        last = 15 + 3 * values["records_step"]
        final = 10 * math.ceil(last / 10)
        completed = [
            row.triggered_ns // MS for row in result.checkpoints if row.status == "completed"
        ]
        refused = [row.triggered_ns // MS for row in result.checkpoints if row.status == "aborted"]
        assert completed[:2] == [10, final]
        assert refused == list(range(20, final, 10))
        assert set(milliseconds(result)[:4]) == {final}


def test_failing_checkpoints_delay_the_end_geometrically() -> None:
    """S9: with a share q of failing checkpoints the final one is the 1/(1-q)-th in the mean."""
    counts: dict[float, list[int]] = defaultdict(list)
    for values, result in swept("final_failing"):
        assert result.run.finishing_checkpoints is not None
        counts[values["checkpoint_failure_ratio"]].append(result.run.finishing_checkpoints)
    assert set(counts[0.0]) == {1}
    for ratio in (0.25, 0.5):
        spread = math.sqrt(ratio) / (1 - ratio) / math.sqrt(len(counts[ratio]))
        assert abs(fmean(counts[ratio]) - 1 / (1 - ratio)) < 3 * spread


def test_lost_notifications_delay_the_end_by_the_slowest_task() -> None:
    """S10: the mean number of checkpoints is the one of the largest of n geometric variables."""
    counts: dict[float, list[int]] = defaultdict(list)
    for values, result in swept("final_words_lost"):
        assert result.run.finishing_checkpoints is not None
        counts[values["notification_loss_ratio"]].append(result.run.finishing_checkpoints)
    for loss, found in counts.items():
        expected = sum(1 - (1 - loss**k) ** 3 for k in range(60))
        spread = math.sqrt(sum((c - expected) ** 2 for c in found)) / len(found)
        assert abs(fmean(found) - expected) < 3 * spread


def test_stop_ends_only_if_every_task_hears_of_its_savepoint() -> None:
    """S10: released Flink's stop ends with probability (1 - p) ** n, the design's always."""
    ended: Counter[tuple[str, float]] = Counter()
    runs: Counter[tuple[str, float]] = Counter()
    for values, result in swept("stop_words_lost_by_rules"):
        point = values["protocol"], values["notification_loss_ratio"]
        runs[point] += 1
        ended[point] += not result.violations
    for (protocol, loss), count_ in runs.items():
        share = ended[protocol, loss] / count_
        expected = (1 - loss) ** 2 if protocol == "flink" else 1.0
        assert abs(share - expected) <= 3 * math.sqrt(expected * (1 - expected) / count_)


def test_share_of_declined_checkpoints_is_the_window_over_the_interval() -> None:
    """S11: from the plan until the end of a task is known at the coordinator two messages pass."""
    declined: Counter[str] = Counter()
    runs: Counter[str] = Counter()
    for values, result in swept("final_race_by_phase", keep_trace=True):
        runs[values["rpc"]] += 1
        declined[values["rpc"]] += any(
            entry[1:3] == ("declined", "task source[0]") for entry in result.trace
        )
    for message, count_ in runs.items():
        window = 2 * int(message.split()[0])
        assert declined[message] / count_ == window / 100


def test_acknowledgement_keeps_checkpoints_short_beside_a_backlog() -> None:
    """S12: without it EndOfPartition has to come through the backlog, and so has the checkpoint.

    It is triggered at 20 ms, when five records are processed, and lasts for as long as the rest of
    the fast source's take: with the ones of the slow one that come between, at most for all that
    rest.
    """
    for values, result in swept("final_unacknowledged"):
        longest = max(row.duration_ns or 0 for row in result.checkpoints)
        if values["acknowledgements"]:
            assert longest <= 4 * MS
        else:
            fast = values["records"] - 5
            assert 4 * fast * MS <= longest <= 4 * (fast + 30) * MS


def test_stop_takes_one_savepoint_and_the_time_of_the_backlog() -> None:
    """S13: backlog, c and a hop per task, whatever the kind of the stop and of checkpoints."""
    for values, result in swept("stop_by_depth"):
        depth = values["repeat"] + 1
        (savepoint,) = result.checkpoints
        assert savepoint.kind == "savepoint"
        backlog_ns = depth * values["preloaded_records"] * S
        assert result.run.finishing_ns == backlog_ns + S + depth * S // 10


def test_first_completed_of_several_checkpoints_closes() -> None:
    """S14: as many run as are allowed. Younger ones find the task closed and leave empty traces."""
    for values, result in swept("final_concurrent", keep_trace=True):
        concurrent = values["max_concurrent"]
        early = [row for row in result.checkpoints if row.triggered_ns < 95 * MS]
        assert len(early) == concurrent
        assert milliseconds(result) == [95, 95]
        left = sum(entry[1] == "left" for entry in result.trace)
        assert left == (concurrent - 1 if values["opens_after_finish"] else 0)
