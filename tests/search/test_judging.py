"""Everything that is judged: promises declined, invariants of the user's, and harm before rules."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

import ckptsim
from ckptsim.scenarios import LINKS
from ckptsim.scenarios.catalogue import by_name
from ckptsim.scenarios.severity import BY_SEVERITY, Severity, severity_of
from ckptsim.scenarios.sync import CrashAt
from ckptsim.sim.cli import main
from ckptsim.sim.judging import Judging
from ckptsim.sim.search import Subject, hunt
from ckptsim.sim.search.explore import Explorer
from ckptsim.sim.search.explore.explore import evenly
from ckptsim.sim.search.hunt import with_harm
from ckptsim.sim.search.shrink import shrink
from ckptsim.sim.search.trial import trial
from ckptsim.testing import CoreConvicted, assert_survives

CORES = Path(__file__).parents[1] / "data" / "field" / "cores"
LAZY = ("every_state_is_released", "releases_without_gaps")


@pytest.fixture(autouse=True)
def cores(monkeypatch, tmp_path):
    """Let cores of the data folder be imported by name, and work in an empty folder."""
    monkeypatch.syspath_prepend(str(CORES))
    monkeypatch.chdir(tmp_path)


def never(truth):
    """Violate in every run."""
    return f"{len(truth.records)} records, {len(truth.commits)} commits"


def raises(truth):
    """Raise in every run."""
    raise KeyError(truth.run.scenario)


def test_every_class_names_properties_of_links_once() -> None:
    """The table knows no other names than those that links have, and each in one class."""
    names = [name for names in BY_SEVERITY.values() for name in names]
    assert len(names) == len(set(names))
    known = {name for link in LINKS.values() for name in link.properties}
    assert [name for name in names if name not in known] == []


@pytest.mark.parametrize(
    ("core", "ignore"),
    [
        ("right_plain:Right", ()),
        ("right_highest_contiguous:Contiguous", LAZY),
        ("right_one_behind:OneBehind", LAZY[:1]),
    ],
)
def test_a_right_core_is_clean_without_what_it_does_not_promise(core, ignore) -> None:
    """Nothing else is held against it, where scenarios are drawn and where one is given."""
    assert assert_survives(core, "ordering", ignore=ignore, runs=40).runs == 40
    subject = Subject(
        scenario=by_name("reference"),
        cores={"ordering": core},
        judging=Judging(ignore=tuple(ignore)),
    )
    assert hunt(subject, range(10), faults=2) is None


LATE_REJECTIONS = """
name = "late_rejections"
link = "ordering"
says = "the later level says which records are rejected, a send fails and a reader does"

[sync]
medium = "stdio"

[[sync.streams]]

[[sync.streams]]
name = "orders"
partition_records = 20
record = "2 kB"

[[sync.streams]]
name = "items"
records = 65
partition_records = 20
record = "10 B"
reject_every = 7

[sync.source]
round_readers = 3
packet_records = 4

[sync.sockets]
pipe = "4 KiB"

[sync.destination]
batch_records = 5
levels = "both"
rejects_at = "complete"
complete = "0 s"

[[faults]]
kind = "fail_send"

[[faults]]
kind = "reader_failure"
feed = 1
reader = 1
packets = 0
"""


def test_a_core_that_coalesces_may_count_at_either_level() -> None:
    """Counts of a state that another one represents are right before and after late rejections."""
    cores = {"ordering": "right_highest_contiguous:Contiguous"}
    scenario = ckptsim.loads(LATE_REJECTIONS)
    for seed in (*range(5), 103_130):
        result = ckptsim.run(scenario, seed=seed, ties="pct:5", cores=cores, ignore=LAZY)
        assert result.violations == []


def test_a_wrong_core_is_convicted_by_its_harm_with_the_same_declined() -> None:
    """The crash that turns its broken rule into loss is found, and kept in the folder."""
    with pytest.raises(CoreConvicted) as caught:
        assert_survives(
            "wrong_highest_acknowledged:Highest", "ordering", ignore=LAZY, runs=40, seed=1
        )
    assert caught.value.row.property == "no_record_lost"
    decisions = json.loads((caught.value.folder / "decisions.json").read_text("utf-8"))
    assert decisions["ignore"] == list(LAZY)
    assert "not judged: every_state_is_released" in str(caught.value)


@pytest.mark.parametrize(
    ("core", "says"),
    [
        ("wrong_savepoint_commits", ""),
        ("wrong_discards_newest", "no failure goes back to savepoint 2, which was discarded"),
    ],
)
def test_output_that_is_doubled_comes_before_the_rule_that_is_broken(core, says) -> None:
    """What a checkpoint that commits or goes too early does is named before how it came about."""
    rows = ckptsim.run(CORES / "savepoint_crash.toml", cores={"coordinator": f"{core}:make"})
    violated = [row.property for row in rows.violations]
    assert violated[0] == "exactly_once_output"
    severities = [severity_of(name) for name in violated]
    assert severities == sorted(severities)
    assert severities[-1] >= Severity.COMMIT
    assert len(violated) == len(set(violated))
    assert says in rows.violations[0].story


def test_a_wrong_order_is_convicted_for_it() -> None:
    """A queue of arrival over all scopes releases other states in another order of arrival."""
    with pytest.raises(CoreConvicted) as caught:
        assert_survives("wrong_fifo:TrueFifo", "ordering", runs=40)
    assert caught.value.row.property == "release_is_deterministic"


def test_a_declined_property_is_neither_judged_nor_said_under_another_name() -> None:
    """A restart that breaks a declined property is no violation of the checkpoint either."""
    scenario = by_name("checkpoints_end_with_tasks")
    names = ["exactly_once_output", "aborted_transactions_are_empty_at_close"]
    found = {row.property for row in ckptsim.run(scenario).violations}
    assert {*names, "restored_checkpoint_gives_the_same_output"} <= found
    assert ckptsim.run(scenario, ignore=names).violations == []


def test_an_unknown_name_is_refused_with_those_that_there_are(capsys) -> None:
    """A misspelt property, and one of another link, end with exit code 2 and a suggestion."""
    for verb in ("run", "check", "hunt", "replay"):
        assert main([verb, "quickstart", "--ignore", "no_record_lots"]) == 2
        assert 'did you mean "no_record_lost"' in capsys.readouterr().err
    assert main(["check", "ordering", "--explore", "--ignore", "job_ends"]) == 2
    assert main(["hunt", "quickstart", "--property", "no_record_lots"]) == 2


def test_what_was_not_judged_is_said_and_repeated(capsys) -> None:
    """Text, document and replay command name it."""
    words = ["quickstart", "--ignore", "no_record_lost"]
    assert main(["check", *words, "--seeds", "2"]) == 0
    assert "not judged   no_record_lost" in capsys.readouterr().out
    assert main(["run", *words, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["ignored"] == ["no_record_lost"]
    assert document["replay"].endswith("--ignore no_record_lost")


@pytest.mark.parametrize("name", ["quickstart", "keyed_crash", "pipeline", "external_crashes"])
def test_an_own_invariant_gets_the_ground_truth_and_is_told_like_ours(name) -> None:
    """Records and commits of every link are there, and the sentence is a violation."""
    found = ckptsim.run(by_name(name), properties=[never])
    (row,) = (row for row in found.violations if row.property.endswith(":never"))
    records, commits = (int(part.split()[0]) for part in row.says.split(", "))
    assert min(records, commits) > 0
    assert row.story


def test_an_own_invariant_is_hunted_and_kept(capsys) -> None:
    """Its folder replays it, with the digest that was kept."""
    own = f"{__name__}:never"
    words = ["hunt", "quickstart", "--property", own, "--shrink-seconds", "1"]
    assert main(words) == 1
    told = capsys.readouterr().out
    assert told.startswith(f"VIOLATED {own} in run 1: ")
    assert main(["replay", "out/hunt/quickstart-never"]) == 1
    assert "repeated: the digest is the one that was kept" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("own", "says"),
    [
        ("nothing_here:at_all", "found no module 'nothing_here'"),
        (f"{__name__}:absent", "has no callable 'absent'"),
        (f"{__name__}:raises", "raised KeyError at "),
        (f"{__name__}:test_a_wrong_order_is_convicted_for_it", "a function of one argument"),
    ],
)
def test_an_own_invariant_that_cannot_be_used_is_its_users_fault(own, says, capsys) -> None:
    """It ends with exit code 2, before the run where that can be seen."""
    assert main(["run", "quickstart", "--property", own]) == 2
    assert says in capsys.readouterr().err


def test_faults_after_the_violation_go_first() -> None:
    """One run is enough to drop them, and no run at all leaves the value found."""
    late = tuple(CrashAt(at_ns=at_s * 1_000_000_000) for at_s in (60, 70))
    scenario = replace(by_name("reference"), faults=late)
    subject = Subject(scenario=scenario, mutant="no_ordering")
    found = trial(subject, 0, "structural")
    name = found.violations[0].property
    assert shrink(subject, found, property_name=name, trials_max=1).scenario.faults == ()
    assert shrink(subject, found, property_name=name, trials_max=0).scenario == scenario


def test_a_limit_of_time_leaves_the_smallest_so_far() -> None:
    """Without any time few runs are made, and the rest still breaks the property."""
    subject = Subject(scenario=by_name("reference"), mutant="no_ordering")
    find = hunt(subject, range(1), seconds_max=0.0)
    assert find is not None
    assert find.shrunk.trials <= 3
    again = trial(subject, find.shrunk.trial.seed, find.shrunk.trial.ties)
    assert find.property in {row.property for row in again.violations}


def test_no_crash_is_tried_where_our_own_core_runs() -> None:
    """What our core breaks is a hazard of the scenario, and is left as it is."""
    subject = Subject(scenario=by_name("b16_checkpoint_race"))
    found = trial(subject, 1, "random")
    assert with_harm(subject, found, "x") == (subject, found, "x")


def test_harm_is_reached_in_a_drawn_scenario() -> None:
    """A crash between the commit of a savepoint and the next checkpoint shows output twice."""
    explorer = Explorer(
        link="final_checkpoint", cores={"coordinator": "wrong_savepoint_commits:make"}
    )
    found = explorer.run(0, (), evenly(0, 1))
    assert [row.property for row in found.trial.violations] == ["notified_once"]
    subject, *_ = explorer.subject(found.choices)
    with_crash, got, name = with_harm(subject, found.trial, "notified_once")
    assert name == "exactly_once_output"
    assert name in {row.property for row in got.violations}
    assert len(with_crash.scenario.faults) == len(subject.scenario.faults) + 1


def test_only_work_until_the_violation_counts() -> None:
    """Shrinking knows when a property was violated, and tries no number often in vain."""
    subject = Subject(scenario=by_name("reference"), mutant="no_ordering")
    found = trial(subject, 0, "structural")
    name = found.violations[0].property
    assert 0 < found.work_until(name) < found.events
    assert found.work_until("another") == found.events
    assert shrink(subject, found, property_name=name).trials < 150


def dated(truth):
    """Violate at the first failure, with what a store and a job have kept."""
    kept = {one.topic: len(one.rows) for one in truth.kept}
    return truth.recoveries[0].failed_ns, f"{sorted(kept)}, {len(truth.task_checkpoints)} parts"


def misdated(truth):
    """Give a sentence without an instant in its pair."""
    return None, f"{truth.run.outcome}"


def test_an_invariant_of_a_pipeline_sees_all_its_parts_and_names_the_instant() -> None:
    """Sync, job and store are in the ground truth, and the violation is at the given instant."""
    (row,) = ckptsim.run("pipeline", properties=[dated]).violations
    assert row.at_ns == 16_000_000
    assert row.says == "['checkpoints_v1', 'pipeline_v1'], 56 parts"


def test_an_invariant_returns_a_sentence_perhaps_with_an_instant() -> None:
    """Anything else is the user's error."""
    with pytest.raises(ckptsim.UserError, match=r"type tuple, expected a sentence, \(at_ns, sen"):
        ckptsim.run("quickstart", properties=[misdated])
