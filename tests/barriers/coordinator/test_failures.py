"""Failure counting: what counts, what is forgiven, and when the job must fail."""

from __future__ import annotations

import pytest

from ckptsim.models.barriers.reason import FailureReason
from ckptsim.models.coordinator import COUNTED_REASONS, FailureCounter

COUNTED = FailureReason.CHECKPOINT_EXPIRED


@pytest.mark.parametrize("reason", list(FailureReason))
def test_only_the_named_reasons_count(reason: FailureReason) -> None:
    """With none tolerated a counted reason fails the job, any other is forgiven."""
    assert FailureCounter(0).failed(reason, 1) == (reason in COUNTED_REASONS)


def test_the_job_fails_when_more_than_the_tolerated_have_failed_in_a_row() -> None:
    """A checkpoint counts once, and counting begins anew when the job has failed."""
    counter = FailureCounter(1)
    assert not counter.failed(COUNTED, 1)
    assert not counter.failed(COUNTED, 1)
    assert counter.failed(COUNTED, 2)
    assert counter.count == 0
    assert not counter.failed(COUNTED, 2)
    assert counter.count == 1


def test_a_refused_request_without_a_number_counts_every_time() -> None:
    """There is nothing to tell two such failures apart by."""
    counter = FailureCounter(5)
    counter.failed(FailureReason.IO_EXCEPTION, None)
    counter.failed(FailureReason.IO_EXCEPTION, None)
    assert counter.count == 2


def test_what_failed_behind_a_success_is_forgiven() -> None:
    """A failure up to the newest success does not count; an old success forgives nothing."""
    counter = FailureCounter(5)
    counter.succeeded(3)
    assert not counter.failed(COUNTED, 3)
    assert counter.count == 0
    counter.failed(COUNTED, 4)
    counter.succeeded(3)
    assert counter.count == 1
    counter.succeeded(5)
    assert counter.count == 0


def test_any_number_may_be_tolerated() -> None:
    """Then nothing is counted at all."""
    counter = FailureCounter(None)
    assert not any(counter.failed(COUNTED, number) for number in range(1, 200))
    assert counter.count == 0
