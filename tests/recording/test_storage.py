"""The content offerred of a storage from unaligned and timed-out checkpoints.

The answers are made up: one source and two subtasks after it, all of one file of channel state, at
1,000 bytes per ms of each stream, or of all together.
"""

from __future__ import annotations

import pytest

from ckptsim.sim.infer.found import Found, Sureness
from ckptsim.sim.infer.tasks.state import StorageSpeed, storage_of
from ckptsim.sim.job.buffers.constants import RIG
from ckptsim.sim.recording import (
    CheckpointAnswer,
    Recording,
    SubtaskAnswer,
    SubtaskPart,
    VertexAnswer,
    VertexInput,
)

KB = 1000
SOURCE, BEHIND = "a", "b"
Ends = tuple[float, float, float]
"""When the source and both subtasks behind it acknowledge, in ms behind the trigger."""


def _part(subtask: int, end_ms: float, *, state: int, in_flight: int = 0) -> SubtaskPart:
    """Return a part with all barriers at once: all of its time is asynchronous."""
    return SubtaskPart(
        subtask=subtask,
        end_to_end_ms=end_ms,
        start_delay_ms=0.0,
        alignment_ms=0.0,
        sync_ms=0.0,
        async_ms=end_ms,
        checkpointed_bytes=state + in_flight,
        processed_bytes=0,
        persisted_bytes=in_flight,
        unaligned=in_flight > 0,
    )


def _vertex(
    name: str, parallelism: int, inputs: tuple[VertexInput, ...], chain: int = 1
) -> VertexAnswer:
    subtasks = tuple(
        SubtaskAnswer(index=index, task_manager="only", host=None, attempt=0, samples=())
        for index in range(parallelism)
    )
    return VertexAnswer(
        id=name,
        name=name,
        parallelism=parallelism,
        max_parallelism=None,
        status=None,
        operators=(name,) * chain,
        inputs=inputs,
        metrics=frozenset(),
        subtasks=subtasks,
    )


def _found(
    timeout_ms: int, parts: list[tuple[SubtaskPart, ...]], chain: int = 1, sources: int = 1
) -> Found[StorageSpeed]:
    """Return the speed that is found from the parts of each checkpoint, those for sources first."""
    checkpoints = tuple(
        CheckpointAnswer(
            id=number,
            status="COMPLETED",
            is_savepoint=False,
            trigger_ms=0,
            duration_ms=max(part.end_to_end_ms for part in own),
            checkpointed_bytes=None,
            processed_bytes=None,
            persisted_bytes=None,
            parts={SOURCE: own[:sources], BEHIND: own[sources:]},
        )
        for number, own in enumerate(parts, 1)
    )
    behind = len(parts[0]) - sources
    recording = Recording(
        version=None,
        job_id="job",
        job_name="job",
        job_state=None,
        job_type=None,
        options={},
        checkpointing={
            "unaligned_checkpoints": True,
            "aligned_checkpoint_timeout": f"{timeout_ms} ms",
        },
        vertices=(
            _vertex(SOURCE, sources, ()),
            _vertex(BEHIND, behind, (VertexInput(upstream=SOURCE, ship="HASH"),), chain),
        ),
        task_managers=(),
        checkpoints=checkpoints,
        duration_ms=10_000,
        files={},
        notes=(),
    )
    return storage_of(recording, inline_bytes=20 * KB, subtasks_per_file=5, cores=2, constants=RIG)


@pytest.mark.parametrize(
    ("timeout_ms", "is_shared", "much", "little"),
    [
        # Three files have 500 KB each at 1,500 ms, then one is left with 300 KB.  Three have 200 KB
        # each at 600 ms, then two are left with 300 KB each.
        (0, True, (1800, 1800, 1800), (600, 1200, 1200)),
        (0, False, (800, 800, 800), (200, 500, 500)),
        # The same bytes, but two files alone before the time-out.
        (300, True, (1800, 1800, 1800), (900, 1200, 1200)),
        (300, False, (1100, 1100, 1100), (500, 500, 500)),
    ],
)
def test_both_files_of_a_part_are_under_way(
    timeout_ms: int, is_shared: bool, much: Ends, little: Ends
) -> None:
    """The limit and its owner are found beside larger and smaller files of data in flight."""

    def parts(ends: Ends, in_flight: int, states: tuple[int, int]) -> tuple[SubtaskPart, ...]:
        behind = [_part(i, ends[1 + i], state=states[i]) for i in range(2)]
        return (_part(0, ends[0], state=0, in_flight=in_flight), *behind)

    one = parts((20, 500, 20), 0, (500 * KB, 0))
    found = _found(
        timeout_ms,
        [
            parts(much, 800 * KB, (500 * KB, 500 * KB)),
            parts(little, 200 * KB, (500 * KB, 500 * KB)),
            one,
        ],
    ).value
    assert found.shared is is_shared
    assert found.write_bytes_per_s == pytest.approx(1_000_000, rel=0.05)
    assert found.create_latency_ns < 10_000_000


@pytest.mark.parametrize(("is_shared", "after_ms"), [(True, 400), (False, 200)])
def test_state_of_a_chain_is_written_behind_data_in_flight(
    after_ms: int, *, is_shared: bool
) -> None:
    """A small file that ends late was begun late: after the file that its last operator awaits."""
    parts = [
        (
            _part(0, channel_ms, state=0, in_flight=channel_ms * KB),
            *(_part(i, channel_ms + after_ms, state=200 * KB) for i in range(2)),
        )
        for channel_ms in (800, 900, 600)
    ]
    found = _found(0, parts, chain=2).value
    assert found.shared is is_shared
    assert found.write_bytes_per_s == pytest.approx(1_000_000, rel=0.05)
    assert found.create_latency_ns < 10_000_000


@pytest.mark.parametrize("is_shared", [True, False])
def test_as_few_files_have_data_in_flight_as_can(*, is_shared: bool) -> None:
    """Of six subtasks five share a file, so one source is with those with later state."""
    parts = []
    for alone, shared in ((100, 300), (50, 400), (200, 250)):
        sizes = {"state": 0, "in_flight": alone * KB}, {"state": 0, "in_flight": shared * KB}
        ends = (2 * alone, alone + shared) if is_shared else (alone, shared)
        sources = [_part(i, ends[i], **sizes[i]) for i in range(2)]
        end = ends[1] + (1000 if is_shared else 250)
        parts.append((*sources, *(_part(i, end, state=250 * KB) for i in range(4))))
    found = _found(0, parts, chain=2, sources=2).value
    assert found.shared is is_shared
    assert found.write_bytes_per_s == pytest.approx(1_000_000, rel=0.05)


@pytest.mark.parametrize(
    ("alone_ms", "count", "is_shared", "is_open"),
    [
        # Two files at once take 500 ms each, in every checkpoint. Or one is alone in each third.
        (None, 12, False, True),
        (250, 12, True, False),
        (500, 12, False, False),
        # One checkpoint may be off as a whole.
        (250, 1, False, True),
    ],
)
def test_a_limit_that_may_be_shared_is_asked_for(
    alone_ms: int | None, count: int, *, is_shared: bool, is_open: bool
) -> None:
    """Files alone and beside others show the owner of the limit.

    Where they do not, both are named.
    """
    source = _part(0, 20, state=0)
    both = (source, *(_part(index, 500, state=500 * KB) for index in range(2)))
    alone = (source, _part(0, alone_ms or 500, state=500 * KB), _part(1, 20, state=0))
    every = 3 if alone_ms else count + 1
    found = _found(0, [both if (number + 1) % every else alone for number in range(count)])
    assert found.value.shared is is_shared
    assert (found.sure is Sureness.ASSUMED) is is_open
    assert ("2,060,000 bytes/s" in found.effect) is is_open


@pytest.mark.parametrize(("end_ms", "shows"), [(290, False), (600, True)])
def test_waiting_for_a_time_out_is_no_writing(end_ms: int, shows: bool) -> None:
    """State of a task that others read from shows a limit only where its barriers left before."""
    own = (_part(0, end_ms, state=100 * KB), _part(0, 20, state=0), _part(1, 20, state=0))
    rate = _found(300, [own]).value.write_bytes_per_s
    assert (rate is not None) is shows
    assert rate is None or rate == pytest.approx(100 * KB / 0.6, rel=0.05)
