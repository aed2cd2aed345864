"""The content offerred of the machine: its processors, and how quick it was."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ckptsim.scenarios.job import Job
from ckptsim.sim.infer.found import Sureness
from ckptsim.sim.infer.job import scenario_of
from ckptsim.sim.infer.tasks.machine import MachineChoice, cores_of, machine_of
from ckptsim.sim.job.buffers.constants import RIG
from ckptsim.sim.recording import SubtaskPart, read_recording
from ckptsim.sim.recording.recording import TaskManagerAnswer
from tests.recording.folders import SHIPPED


@pytest.mark.parametrize(("slower", "factor"), [(0.325, 0.5), (0.7, 1.0), (4.0, 4.0)])
def test_costs_of_the_recorded_machine_follow_its_sources(slower: float, factor: float) -> None:
    """What a source takes from the trigger to its acknowledgement has all that it waited for."""
    whole = read_recording(SHIPPED / "job00")
    source = next(v.id for v in whole.vertices if not v.inputs)
    # Two messages of 2 ms, and 5.5 ms of work: a single source on the machine of the costs.
    checkpoints = tuple(
        replace(
            one,
            parts={
                vertex: tuple(replace(part, end_to_end_ms=9.5 * slower) for part in parts)
                for vertex, parts in one.parts.items()
                if vertex == source
            },
        )
        for one in whole.checkpoints
    )
    shifted = replace(whole, checkpoints=checkpoints)
    found = machine_of(shifted, MachineChoice.RECORDED, constants=RIG).value.cost_factor
    assert found == pytest.approx(factor, abs=0.01)


@pytest.mark.parametrize("waits_ms", [0.0, 40.0])
@pytest.mark.parametrize(
    ("slower", "factor"), [(0.0, 0.1), (0.385, 0.25), (0.577, 0.56), (0.8, 1.0), (4.0, 1.0)]
)
def test_costs_of_a_quiet_machine_follow_what_tasks_do_from_their_last_barrier_on(
    slower: float, factor: float, waits_ms: float
) -> None:
    """Their parts tell, as a square and never upwards. What they waited for before does not."""
    whole = read_recording(SHIPPED / "job15")
    # Two subtasks, one, three and four, each with 4 ms of work, on two cores.
    usual_ms = {2: 4.0, 1: 4.0, 3: 5.0, 4: 6.0}
    aligned = 3.0

    def of(parts: tuple[SubtaskPart, ...]) -> tuple[SubtaskPart, ...]:
        whole_ms = waits_ms + aligned + slower * usual_ms[len(parts)]
        times = {"start_delay_ms": waits_ms, "alignment_ms": aligned, "end_to_end_ms": whole_ms}
        return tuple(replace(part, checkpointed_bytes=0, **times) for part in parts)

    checkpoints = tuple(
        replace(one, parts={vertex: of(parts) for vertex, parts in one.parts.items()})
        for one in whole.checkpoints
    )
    found = machine_of(replace(whole, checkpoints=checkpoints), MachineChoice.QUIET, constants=RIG)
    assert found.value.cost_factor == pytest.approx(factor, abs=0.01)


@pytest.mark.parametrize(
    ("slower", "quiet", "recorded"), [(0.325, 0.5, 0.5), (0.7, 1.0, 1.0), (2.0, 1.0, 2.0)]
)
def test_files_of_data_in_flight_tell_how_quick_a_machine_is(
    slower: float, quiet: float, recorded: float
) -> None:
    """From the last barrier on two cores write a file for each subtask, and acknowledge it."""
    whole = read_recording(SHIPPED / "job03")
    # Eight files of 3.5 ms and 500 KB at 4 ms per MB, and acknowledgements of 1.5 ms, on two cores.
    usual_ms = 8 * (3.5 + 0.5 * 4 + 1.5) / 2 + 2
    overtakes = {"unaligned": True, "persisted_bytes": 500_000, "checkpointed_bytes": 500_000}
    times = {"start_delay_ms": 5.0, "alignment_ms": 4.0, "end_to_end_ms": 9.0 + slower * usual_ms}

    def of(parts: tuple[SubtaskPart, ...]) -> tuple[SubtaskPart, ...]:
        return tuple(replace(part, **overtakes, **times) for part in parts)

    checkpoints = tuple(
        replace(one, parts={vertex: of(parts) for vertex, parts in one.parts.items()})
        for one in whole.checkpoints
    )
    answer = {"unaligned_checkpoints": True}
    shifted = replace(
        whole, checkpoints=checkpoints, checkpointing=dict(whole.checkpointing) | answer
    )
    for choice, factor in ((MachineChoice.QUIET, quiet), (MachineChoice.RECORDED, recorded)):
        model = scenario_of(shifted, machine=choice).scenario.model
        assert isinstance(model, Job)
        assert model.machine.cost_factor == pytest.approx(factor, abs=0.01)


def test_parts_that_wait_for_a_time_out_say_nothing_of_the_machine() -> None:
    """Where alignments time out a source acknowledges late on the quickest machine."""
    whole = read_recording(SHIPPED / "job15")
    known = machine_of(whole, MachineChoice.RECORDED)
    answer = {"unaligned_checkpoints": True, "aligned_checkpoint_timeout": "200 ms"}
    timed = replace(whole, checkpointing=dict(whole.checkpointing) | answer)
    found = machine_of(timed, MachineChoice.RECORDED)
    assert known.value.cost_factor > 1
    assert (found.value.cost_factor, found.sure) == (1.0, Sureness.ASSUMED)


def test_a_busy_machine_is_not_the_job() -> None:
    """Asked for the recorded machine, service times are longer, and so is what a core does."""
    found = scenario_of(read_recording(SHIPPED / "job08"), machine=MachineChoice.RECORDED)
    model, quiet = (
        found.scenario.model,
        scenario_of(read_recording(SHIPPED / "job08")).scenario.model,
    )
    assert isinstance(model, Job)
    assert isinstance(quiet, Job)
    assert model.vertices[2].service_ns > 1.05 * quiet.vertices[2].service_ns
    assert model.machine.cost_factor >= quiet.machine.cost_factor


@pytest.mark.parametrize(
    ("others", "cores"),
    [((), 2), ((("a", 8), ("a", 8)), 10), ((("a", 4), ("b", 8)), 14), (((None, 2),), 2)],
)
def test_processors_of_each_host_count_once(
    others: tuple[tuple[str | None, int], ...], cores: int
) -> None:
    """Hosts that the job runs on are distinguished by their addresses. Threads of one have none."""
    whole = read_recording(SHIPPED / "job03")
    kept = whole.task_managers[len(others) :]
    assert len(kept) >= 6
    moved = tuple(
        TaskManagerAnswer(id=one.id, host=host, cores=count)
        for one, (host, count) in zip(whole.task_managers, others, strict=False)
    )
    stranger = TaskManagerAnswer(id="of another job", host="c", cores=64)
    found = cores_of(replace(whole, task_managers=(*moved, *kept, stranger)))
    assert (found.value, found.sure) == (cores, Sureness.READ)
    factors = {count: machine_of(whole, MachineChoice.RECORDED, count) for count in (1, 2, 16)}
    assert [one.value.cores for one in factors.values()] == [1, 2, 16]
    assert factors[1].value.cost_factor <= factors[2].value.cost_factor


def test_processors_that_nobody_tells_are_asked_for() -> None:
    """Without an answer of a task manager they are the ones of the costs, and asked for by name."""
    whole = read_recording(SHIPPED / "job00")
    found = scenario_of(replace(whole, task_managers=()))
    assert "machine: cores" in {one.name for one in found.asked}
    assert isinstance(found.scenario.model, Job)
    assert found.scenario.model.machine.cores is None
