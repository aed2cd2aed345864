"""The story of one checkpoint of a pipeline, which has source states and a job's checkpoints."""

from __future__ import annotations

from pathlib import Path

import pytest

from ckptsim import vary
from ckptsim.scenarios.catalogue import by_name
from ckptsim.sim.cli.main import EXIT_FINE, EXIT_USER, main
from ckptsim.sim.story import Target, tell
from ckptsim.sim.world import load_world, run_world


def _story(index: int, scope: str | None) -> str:
    result = run_world(by_name("pipeline"), seed=0, keep_trace=True)
    lines = tell(result.trace, load_world("composed").VOCABULARY, target=Target(index, scope))
    return "\n".join(map(str, lines))


def test_a_states_story_leaves_the_jobs_checkpoint_of_that_number_out() -> None:
    """State 2 of a stream and checkpoint 2 of the job are told apart by their scopes."""
    assert "state users/2" in _story(2, "users")
    assert "takes its snapshot" not in _story(2, "users")
    assert "takes its snapshot of checkpoint 2" in _story(2, "job")
    assert "state users/2" not in _story(2, "job")


def test_what_a_kind_of_entry_has_is_the_same_in_every_part() -> None:
    """Of a kind that two parts of a pipeline have in their traces the fields are those of both."""
    parts = [load_world(link).VOCABULARY for link in ("ordering", "final_checkpoint", "barriers")]
    whole = load_world("composed").VOCABULARY
    assert [
        (kind, telling.fields)
        for part in parts
        for kind, telling in part.items()
        if telling.fields != whole[kind].fields
    ] == []


def test_a_pipeline_without_barriers_can_be_told() -> None:
    """Checkpoints that tasks take of their own stand beside the states that the platform keeps."""
    path = "pipeline.checkpointing.protocol"
    result = run_world(vary(by_name("pipeline"), {path: "uncoordinated"}), seed=0, keep_trace=True)
    told = "\n".join(map(str, tell(result.trace, load_world("composed").VOCABULARY)))
    assert "has stored its checkpoint" in told
    assert "keeps state" in told


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
