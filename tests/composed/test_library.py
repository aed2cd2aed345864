"""The composed scenarios of the library: which there are, losses counted, rows of their time."""

from __future__ import annotations

from pathlib import Path

import pytest

from ckptsim import ScenarioError, vary
from ckptsim.scenarios.catalogue import all_names, by_name
from ckptsim.sim.cli.main import EXIT_FINE, EXIT_USER, main
from ckptsim.sim.rows import RunResult
from ckptsim.sim.story import Target, tell
from ckptsim.sim.world import load_world, run_world

SEEDS = range(4)
ALL = [name for name in all_names() if by_name(name).link == "composed"]
SOUND = [name for name in ALL if not by_name(name).violates]
ANTI = [name for name in ALL if by_name(name).violates]


def runs(name: str) -> list[RunResult]:
    """Return a few runs of a scenario under varied tie orders."""
    scenario = by_name(name)
    ties = ("structural", "random", "pct")
    return [run_world(scenario, seed=seed, ties=ties[seed % 3]) for seed in SEEDS]


@pytest.mark.parametrize("name", [name for name in ANTI if "append" not in name])
def test_losses_are_counted(name: str) -> None:
    """A loss is reported with the number of records that are gone, of all that the source had."""
    says = [
        row.says
        for result in runs(name)
        for row in result.violations
        if row.property == "no_record_lost"
    ]
    assert says
    for sentence in says:
        assert "of 200 records are not in the store" in sentence


def test_there_are_enough() -> None:
    """The library has a scenario per placement and barrier mode, and several anti-patterns."""
    models = [by_name(name).model for name in ALL]
    assert {model.store.placement.value for model in models} == {  # type: ignore[attr-defined]
        "colocated",
        "external",
        "consumer_group_blob",
    }
    assert {model.checkpointing.mode.value for model in models} == {  # type: ignore[attr-defined]
        "aligned",
        "unaligned",
        "aligned_timeout",
        "at_least_once",
    }
    assert len(ANTI) >= 6


def test_rows_tell_where_the_time_of_a_state_went() -> None:
    """The four waits of a released state add up. Job checkpoints and their parts have rows too."""
    result = run_world(by_name("pipeline"), seed=1)
    states = [row for row in result.checkpoints if row.scope != "job" and row.completed_ns]
    assert states
    for row in states:
        waits = (row.wait_records_ns, row.wait_upload_ns, row.wait_predecessor_ns, row.wait_send_ns)
        assert sum(wait or 0 for wait in waits) == row.duration_ns
    jobs = [row for row in result.checkpoints if row.scope == "job"]
    assert any(row.status == "completed" and row.alignment_ns is not None for row in jobs)
    assert {row.task for row in result.task_checkpoints} >= {"readers", "upstream", "sink"}


def _story(index: int, scope: str | None) -> str:
    result = run_world(by_name("pipeline"), seed=0, keep_trace=True)
    lines = tell(result.trace, load_world("composed").VOCABULARY, target=Target(index, scope))
    return "\n".join(map(str, lines))


def test_a_states_story_leaves_the_jobs_checkpoint_of_that_number_out() -> None:
    """State 2 of a stream and checkpoint 2 of the job are distinguished by their scopes."""
    assert "state users/2" in _story(2, "users")
    assert "takes its snapshot" not in _story(2, "users")
    assert "takes its snapshot of checkpoint 2" in _story(2, "job")
    assert "state users/2" not in _story(2, "job")


def test_what_a_kind_of_entry_has_is_the_same_in_every_part() -> None:
    """Of a kind that two parts of a pipeline have in their traces the fields are those for both."""
    parts = [load_world(link).VOCABULARY for link in ("ordering", "final_checkpoint", "barriers")]
    whole = load_world("composed").VOCABULARY
    assert [
        (kind, telling.fields)
        for part in parts
        for kind, telling in part.items()
        if telling.fields != whole[kind].fields
    ] == []


def test_a_pipeline_has_checkpoints_of_the_whole_job() -> None:
    """Its sinks commit with them, so it refuses checkpoints that tasks take of their own."""
    path = "pipeline.checkpointing.protocol"
    with pytest.raises(ScenarioError, match=path):
        vary(by_name("pipeline"), {path: "uncoordinated"})


def test_a_number_alone_tells_of_all_that_have_it() -> None:
    """Without a scope the story has the states and the checkpoint of that number."""
    assert "takes its snapshot of checkpoint 2" in _story(2, None)
    assert "state users/2" in _story(2, None)


@pytest.mark.parametrize("text", ["users/99", "nobody/1"])
def test_a_checkpoint_that_the_run_has_not_is_the_users_error(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The error names the checkpoints that there are, and nothing is written."""
    words = ["replay", "pipeline", "--checkpoint", text, "--out", str(tmp_path / "pictures")]
    assert main(words) == EXIT_USER
    error = capsys.readouterr().err
    assert f"found '{text}', expected one of this run: users/1 to users/4" in error
    assert not (tmp_path / "pictures").exists()
    assert main([*words[:3], "job/2", *words[4:]]) == EXIT_FINE
