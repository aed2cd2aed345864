"""The end of a chain of five tasks takes what the published model says, to the nanosecond."""

import pytest

from ckptsim.scenarios.catalogue import by_name
from ckptsim.sim.world import run_world
from tests.job.records.small import closes_ns, since

S = 1_000_000_000

# Source ends at 25 s, triggers at multiples of 10 s, a checkpoint takes 1 s, EndOfPartition 0.1 s
# per hop.  With a backlog every task has 7 records of 1 s each in front of it.
# name: (triggers from 25 s on, in s; instants at which the tasks close, in tenths of a second)
ALL_AT_ONCE = [310, 311, 312, 313, 314]
ONE_BY_ONE = [310, 410, 510, 610, 710]
GOLDEN = {
    "final_chain": ([30], ALL_AT_ONCE),
    "final_chain_unaligned": ([30], ALL_AT_ONCE),
    "final_chain_naive": ([30, 40, 50, 60, 70], ONE_BY_ONE),
    "final_backlog": ([30], [540, 541, 542, 543, 544]),
    "final_backlog_unaligned": ([30, 40, 50, 60], [320, 410, 460, 530, 610]),
    "final_backlog_immediate": ([30, 40, 50, 53], [320, 410, 460, 530, 540]),
    "final_backlog_naive": ([30, 40, 50, 60, 70], ONE_BY_ONE),
    "final_backlog_naive_aligned": ([30, 60, 70, 80, 90], [540, 610, 710, 810, 910]),
}


@pytest.mark.parametrize("name", sorted(GOLDEN))
def test_chain_ends_at_the_published_instants(name: str) -> None:
    """Number of checkpoints and the closing instant of every task are exactly the published."""
    result = run_world(by_name(name), seed=0)
    triggers, closes = GOLDEN[name]
    assert result.violations == []
    assert since(result, 25) == triggers
    assert closes_ns(result) == [tenth * S // 10 for tenth in closes]


def test_aligned_checkpoint_behind_a_backlog_lasts_until_it_is_gone() -> None:
    """The one checkpoint, triggered at 30 s, completes 1 s after the last EndOfData at 53 s."""
    (row,) = run_world(by_name("final_backlog"), seed=0).checkpoints
    assert row.completed_ns == 54 * S
