"""Our core beside a user's: a hint in stories, a violation where a core must do as ours does."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

import ckptsim
from ckptsim.cores import barriers
from ckptsim.cores import coordinator_events as ev
from ckptsim.cores import handler_events as handler
from ckptsim.cores import writer_events as writer
from ckptsim.models.coordinator.requests import Request
from ckptsim.scenarios.catalogue import by_name
from ckptsim.sim.cli import main
from ckptsim.sim.judging import Judging
from ckptsim.sim.rules.ours import DOES_AS_OURS
from ckptsim.sim.rules.words import answer_words, event_words
from ckptsim.sim.search import Subject
from ckptsim.sim.search.explore import Corpus, Explorer, Exploring, explore
from ckptsim.sim.search.folder import keep
from ckptsim.sim.search.stories import with_story
from ckptsim.sim.search.trial import trial
from ckptsim.testing import CoreConvicted, assert_survives
from tests.mutants import MUTANTS

BROUGHT = "tests.rules.brought"


def _subject(name: str, *, like_ours: bool = False, scenario: str = "final_pair") -> Subject:
    cores = {"coordinator": f"{BROUGHT}:{name}"}
    return Subject(scenario=by_name(scenario), cores=cores, judging=Judging(like_ours=like_ours))


def _stories(subject: Subject) -> list[str]:
    return [row.story for row in with_story(subject, trial(subject, 0, "random")).violations]


def test_a_story_says_what_ours_does() -> None:
    """The first difference is one line: when, at which event, what either core answers."""
    lines = _stories(_subject("make_Silent"))[0].splitlines()
    assert lines[1] == (
        "first difference from ours, at 20 ms: core coordinator 1: at its event 6, stored "
        "(checkpoint 1), it answers: no more; ours: notifies complete (checkpoint 1)"
    )


def test_a_hint_is_of_what_is_done_and_not_of_its_order() -> None:
    """Another order alone is the hint only where nothing else is different."""
    assert "ours: notifies complete" in _stories(_subject("make_Late"))[0]


def test_a_difference_by_itself_is_no_verdict() -> None:
    """A core that does otherwise and breaks nothing is clean, unless it must do as ours does."""
    assert trial(_subject("make_Terse", scenario="stop_drain"), 0, "random").violations == ()
    found = trial(
        _subject("make_Terse", scenario="stop_drain", like_ours=True), 0, "random"
    ).violations
    assert [row.property for row in found] == [DOES_AS_OURS]
    assert "ours: notifies complete" in found[0].says
    assert "--like-ours" in found[0].replay


@pytest.mark.parametrize("name", ["make_Backwards", "make_Refusing", "make_Asked"])
def test_order_refusals_and_answers_are_compared(name: str) -> None:
    """So is the order of effects, what only one core refuses, and what hosts ask."""
    report = explore(
        Explorer(
            link="barrier_protocol",
            cores={"coordinator": f"{BROUGHT}:{name}"},
            judging=Judging(like_ours=True),
        ),
        Exploring(runs=20, seed=2),
        Corpus(),
    )
    rows = report.violating[0].trial.violations
    assert DOES_AS_OURS in [row.property for row in rows]


@pytest.mark.parametrize("name", ["make_Silent", "make_Terse", "in_a_closure"])
def test_our_core_beside_a_users_changes_nothing_of_the_run(name: str) -> None:
    """Digest and number of events are the same with it and without."""
    beside, alone = (
        trial(_subject(name, like_ours=one, scenario="stop_drain"), 1, "random")
        for one in (True, False)
    )
    assert (beside.digest, beside.events) == (alone.digest, alone.events)


def test_a_core_that_lives_in_a_closure_walks() -> None:
    """It is copied by what it has taken, and does as ours does."""
    cores = {"coordinator": f"{BROUGHT}:in_a_closure"}
    explorer = Explorer(link="barrier_protocol", cores=cores, judging=Judging(like_ours=True))
    assert explore(explorer, Exploring(runs=8, seed=2), Corpus()).violating == []


def test_walks_convict_what_no_short_run_reaches() -> None:
    """Events that could come and do not tell a core that is wrong in a rare case only."""
    mutant = MUTANTS["flush_dropped"]
    explorer = Explorer(
        link="ordering", cores={mutant.slot: mutant.factory}, judging=Judging(like_ours=True)
    )
    rows = explore(explorer, Exploring(runs=30), Corpus()).violating[0].trial.violations
    assert [row.property for row in rows] == [DOES_AS_OURS]
    assert "with events that did not come and could" in rows[0].says


def test_a_program_must_do_as_ours_does() -> None:
    """A core in another process is compared in the same way."""
    command = shlex.join([sys.executable, "-m", BROUGHT, "Terse"])
    subject = Subject(
        scenario=by_name("stop_drain"),
        cores={"coordinator": f"process:{command}"},
        judging=Judging(like_ours=True),
    )
    assert [row.property for row in trial(subject, 0, "random").violations] == [DOES_AS_OURS]


def test_every_verb_takes_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`check`, `replay` and `hunt` convict, and what `hunt` writes repeats it."""
    core = ["--core", f"coordinator={BROUGHT}:make_Terse"]
    options = [*core, "--like-ours"]
    assert main(["check", "stop_drain", "--seeds", "2", *options]) == 1
    out = ["--out", str(tmp_path / "replay")]
    assert main(["replay", "stop_drain", *options, *out]) == 1
    folder = tmp_path / "hunt"
    subject = _subject("make_Terse", scenario="stop_drain", like_ours=True)
    keep(folder, subject, seed=0, ties="random", name=DOES_AS_OURS)  # as `hunt` does
    capsys.readouterr()
    assert main(["replay", str(folder), *out]) == 1
    text = capsys.readouterr().out
    assert f"VIOLATED {DOES_AS_OURS}" in text
    assert "repeated: " in text
    assert json.loads((folder / "decisions.json").read_text())["like_ours"] is True
    assert main(["check", "stop_drain", "--seeds", "2", *core]) == 0


def test_python_takes_it() -> None:
    """So do the functions of the package."""
    cores = {"coordinator": f"{BROUGHT}:make_Terse"}
    report = ckptsim.check("stop_drain", seeds=1, cores=cores, like_ours=True)
    assert not report.passed


@pytest.mark.long
def test_a_test_of_a_users_takes_it() -> None:
    """A core that does otherwise does not survive, with the story of the difference."""
    cores = {"coordinator": f"{BROUGHT}:make_Terse"}
    with pytest.raises(CoreConvicted, match=DOES_AS_OURS):
        assert_survives(
            cores["coordinator"], "stop_drain", slot="coordinator", runs=1, like_ours=True
        )


def test_a_mutant_is_judged_as_a_core_of_a_user_is(capsys: pytest.CaptureFixture[str]) -> None:
    """Its story has the first difference from ours, which is a verdict where one asks for it."""
    words = ["check", "reference", "--seeds", "2", "--mutant", "no_ordering"]
    assert main(words) == 1
    assert "first difference from ours, at " in capsys.readouterr().out
    assert main([*words, "--like-ours", "--keep-going"]) == 1
    assert f"VIOLATED {DOES_AS_OURS}" in capsys.readouterr().out


def test_users_have_the_mutants_that_docs_show(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One of the tests is unknown without them, and the message names those that there are."""
    monkeypatch.delenv("CKPTSIM_MUTANTS")
    assert main(["run", "reference", "--mutant", "stale_accepted"]) == 2
    assert "expected one of those of ordering: no_ordering, gaps_tolerated" in (
        capsys.readouterr().err
    )


@pytest.mark.parametrize(
    "options", [[], ["--core", "sink=ckptsim.sim.job.control.sinks.sink:SinkWriter"]]
)
def test_what_cannot_be_compared_is_refused(
    options: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """There must be a core of the user's, in a slot that can be compared."""
    assert main(["check", "pipeline", "--seeds", "1", *options, "--like-ours"]) == 2
    assert "--like-ours: found" in capsys.readouterr().err


REQUEST = Request(number=7, submitted_ns=0, savepoint=True)
BARRIER = barriers.Barrier(4, 0, barriers.OptionKind.ALIGNED)


@pytest.mark.parametrize(
    ("effects", "text"),
    [
        ((), "nothing"),
        ((ev.StoreCheckpoint(4, savepoint=False),), "stores checkpoint 4"),
        ((ev.NotifyAborted(4, None),), "notifies aborted (checkpoint 4)"),
        ((ev.CheckpointCompleted(4, 1_500_000),), "reports: checkpoint completed (checkpoint 4"),
        ((ev.TriggerTasks(BARRIER, (0, 1), REQUEST),), "triggers tasks 0, 1 (barrier"),
        ((writer.WriteBytes(4, 39 * 1024),), "writes bytes 39 KiB (checkpoint 4)"),
        ((handler.SetTimer(1, 2_500_000, BARRIER),), "sets timer 1 (delay 2.5 ms"),
        ((handler.BlockChannel(1), handler.BlockChannel(2)), "blocks channel 1, then blocks"),
    ],
)
def test_effects_are_told_in_words(effects: tuple[Any, ...], text: str) -> None:
    """Verbs of the effects, their fields with units, and no Python."""
    told = answer_words(effects)
    assert told.startswith(text)
    assert not any(sign in told for sign in ("=", "<", "_ns", "None"))


def test_events_are_told_in_words() -> None:
    """Fields that say nothing are left out."""
    event = ev.Stored(5, 4, failed=True)
    assert event_words(event) == "stored (checkpoint 4, failed)"
