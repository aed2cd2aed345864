"""Cores, slots and mutants that cannot be used are refused, and what ran is always said."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ckptsim.scenarios.catalogue import by_name
from ckptsim.scenarios.errors import UserError
from ckptsim.sim.blame import CORE_RAISED
from ckptsim.sim.cli import main
from ckptsim.sim.world import run_world

VECTORS = Path(__file__).parents[1] / "data" / "vectors"
MODULE = """
from ckptsim.cores import barriers, ordering, handler_events as ev

class Raising(barriers.SingleCheckpointHandler):
    def step(self, event):
        if isinstance(event, ev.BarrierArrived) and event.barrier.checkpoint == 2:
            raise ZeroDivisionError("second checkpoint")
        return super().step(event)

def handler(kind, channels, *, gates, after_finish):
    return barriers.make_handler(kind, channels, gates=gates, after_finish=after_finish)

def raising_core(kind, channels, *, gates, after_finish):
    return Raising(kind, channels, gates=gates, after_finish=after_finish)

def raising_factory(kind, channels, *, gates, after_finish):
    raise LookupError("no such handler")

def no_core(kind, channels, *, gates, after_finish):
    return {"step": 1}

def wrong_signature(kind):
    return None

class NoDoor:
    def step(self, event):
        return []

def no_questions(kind, channels, *, gates, after_finish):
    return NoDoor()

def garbage(kind, channels, *, gates, after_finish):
    class Garbage(barriers.SingleCheckpointHandler):
        def step(self, event):
            return ["no effect"]
    return Garbage(kind, channels, gates=gates, after_finish=after_finish)

make_ordering = ordering.make_core
three = 3
"""
SLOTS_OF_BARRIERS = "handler, coordinator, lifecycle, channel_state, subtask, input_channel"


@pytest.fixture
def mine(tmp_path, monkeypatch) -> str:
    """Write a module of cores into a folder of its own, and return its name."""
    name = f"mine_of_{tmp_path.name}"
    (tmp_path / f"{name}.py").write_text(MODULE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    return name


@pytest.mark.parametrize(
    ("core", "says"),
    [
        ("{m}:handler", f"found '{{m}}:handler' without a slot.*{SLOTS_OF_BARRIERS}"),
        ("ordering={m}:make_ordering", f"found slot 'ordering'.*{SLOTS_OF_BARRIERS}"),
        ("handlr={m}:handler", 'did you mean "handler"'),
        ("handler=nowhere:handler", "handler=nowhere:handler: found no module 'nowhere'"),
        ("handler={m}", "expected package.module:factory"),
        ("handler={m}:three", "'{m}' has no callable 'three'"),
        ("handler={m}:wrong_signature", "handler={m}:wrong_signature: must accept .kind: "),
        ("handler={m}:raising_factory", "the factory raised LookupError: no such handler"),
        (
            "handler={m}:no_core",
            "the factory gave dict, expected BarrierHandler: it must have `step`, used for every",
        ),
        (
            "handler={m}:no_questions",
            "gave NoDoor, .*must have `latest`, used where a task waits for a barrier; must",
        ),
    ],
)
@pytest.mark.parametrize("verb", ["run", "check", "hunt", "replay"])
def test_a_core_that_cannot_be_used_is_refused(capsys, mine, verb, core, says) -> None:
    """Exit code 2, and the slots of the link or the factory with the problem about it."""
    arguments = [verb, "alignment_timeout", "--core", core.format(m=mine)]
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert says.format(m=mine).split(".*")[0] in error.replace("(kind", ".kind")
    assert says.format(m=mine).split(".*")[-1] in error.replace("(kind", ".kind")
    assert "Traceback" not in error


def test_a_slot_is_taken_once(capsys, mine) -> None:
    """Neither two cores nor a core and a mutant stand in one slot."""
    core = f"handler={mine}:handler"
    assert main(["run", "alignment_timeout", "--core", core, "--core", core]) == 2
    assert "found slot 'handler' twice" in capsys.readouterr().err
    assert main(["run", "alignment_timeout", "--core", core, "--mutant", "never_times_out"]) == 2
    assert "--mutant never_times_out takes slot handler, and --core too" in capsys.readouterr().err
    mutant = ["--mutant", "told_before_stored"]
    assert main(["run", "alignment_timeout", "--core", core, *mutant, "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert (found["cores"], found["mutant"]) == (
        {"handler": f"{mine}:handler"},
        "told_before_stored",
    )


def test_a_slot_may_be_left_out_where_there_is_one(capsys, mine) -> None:
    """A sync has one slot, which `--core F` means. The output names it all the same."""
    assert main(["run", "quickstart", "--core", f"{mine}:make_ordering"]) == 0
    text = capsys.readouterr().out
    assert f"core ordering={mine}:make_ordering " in " ".join(text.split())
    assert f"--core ordering={mine}:make_ordering" in text.splitlines()[-1]


@pytest.mark.parametrize("link", ["barriers", "barrier_protocol"])
def test_a_core_that_raises_in_a_run_breaks_its_duty(capsys, mine, link) -> None:
    """It is named with slot, module and factory. No one takes it for a fault of the program."""
    scenario = {"barriers": "alignment_timeout", "barrier_protocol": "flink_18139_two_gates"}[link]
    core = f"handler={mine}:raising_core"
    for verb in ("run", "check", "replay"):
        assert main([verb, scenario, "--core", core]) == 1
        text = capsys.readouterr().out
        assert f"VIOLATED {CORE_RAISED}" in text
        assert f"core {core} raised ZeroDivisionError: second checkpoint" in text


def test_an_effect_that_nobody_knows_is_the_cores_fault(mine) -> None:
    """What a core answers and no host can carry out is put down to the core."""
    result = run_world(by_name("alignment_timeout"), seed=0, cores={"handler": f"{mine}:garbage"})
    (row,) = result.violations
    assert row.property == CORE_RAISED
    assert f"core handler={mine}:garbage made a run raise" in row.says
    assert (result.run.outcome, len(result.run.digest)) == ("error", 32)


def test_a_factory_that_raises_later_is_refused_as_well() -> None:
    """From Python the first call in a run may be the first at all. It is refused there."""

    def handler(kind, channels, *, gates, after_finish):
        raise LookupError(kind)

    with pytest.raises(UserError, match=r"handler=.*handler: the factory raised LookupError"):
        run_world(by_name("alignment_timeout"), seed=0, cores={"handler": handler})
    with pytest.raises(UserError, match="found 3, expected"):
        run_world(by_name("alignment_timeout"), seed=0, cores={"handler": 3})


def test_what_ran_is_said_and_keys_differ(capsys, mine) -> None:
    """Core and mutant are in run key, tables, JSON, header and replay command of every verb."""
    scenario, core = by_name("reference"), {"ordering": f"{mine}:make_ordering"}
    ours = run_world(scenario, seed=1).run
    theirs = run_world(scenario, seed=1, cores=core).run
    mutant = run_world(scenario, seed=1, mutant="gaps_tolerated").run
    assert ours.digest == theirs.digest == mutant.digest
    assert len({ours.run_key, theirs.run_key, mutant.run_key}) == 3
    assert (ours.cores, theirs.cores, mutant.mutant) == (
        "{}",
        f'{{"ordering":"{mine}:make_ordering"}}',
        "gaps_tolerated",
    )
    chosen = ["--core", f"{mine}:make_ordering"]
    for arguments in (
        ["check", "reference", "--seeds", "2"],
        ["hunt", "reference", "--seeds", "2"],
    ):
        assert main([*arguments, *chosen]) == 0
        assert f"ordering={mine}:make_ordering" in capsys.readouterr().out
        assert main([*arguments, *chosen, "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["cores"] == core
    assert main(["check", "reference", "--seeds", "2", "--mutant", "gaps_tolerated"]) == 0
    assert "mutant       gaps_tolerated\n" in capsys.readouterr().out


def test_vectors_take_the_core_of_their_slot(capsys, mine) -> None:
    """`conform` refuses slots that the files are not about, and skips vectors of other slots."""
    barriers, lifecycle = VECTORS / "barriers.jsonl", VECTORS / "final_checkpoint.jsonl"
    core = f"handler={mine}:handler"
    assert main(["conform", str(barriers), "--core", f"{mine}:handler"]) == 0
    assert f"core {core}\n" in capsys.readouterr().out
    assert main(["conform", str(lifecycle), "--core", core]) == 2
    assert (
        "expected one of the slots of suite final_checkpoint: lifecycle" in capsys.readouterr().err
    )
    assert main(["conform", str(barriers), str(lifecycle), "--core", f"{mine}:handler"]) == 2
    assert "without a slot, expected one of the slots of suite barriers" in capsys.readouterr().err
    assert main(["conform", str(barriers), str(lifecycle), "--core", core]) == 0
    assert "it is about slot lifecycle; not ours are: handler" in capsys.readouterr().out
    assert main(["conform", str(barriers), "--core", f"handler={mine}:raising_core"]) == 1
    assert "the core failed: expected no exception, found ZeroDiv" in capsys.readouterr().out
    assert main(["conform", str(VECTORS / "rescale.jsonl"), "--core", core]) == 2
    assert "but suite rescale has no slots" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("scenario", "mutant", "says"),
    [
        ("reference", "gap_tolerated", 'did you mean "gaps_tolerated"'),
        (
            "reference",
            "never_times_out",
            "which takes slot handler; those of ordering: no_ordering",
        ),
        ("alignment_timeout", "nobody", "found 'nobody', expected one of those of barriers"),
    ],
)
def test_a_mutant_that_a_link_has_not_is_refused(scenario, mutant, says) -> None:
    """The message names the link's mutants, the one that may be meant, or the slot of another."""
    with pytest.raises(UserError) as caught:
        run_world(by_name(scenario), seed=0, mutant=mutant)
    assert says in str(caught.value)


@pytest.mark.parametrize("topic", ["slots", "mutants"])
def test_the_topics_are_explained(capsys, topic) -> None:
    """Slots and mutants can be looked up, as text and as JSON."""
    assert main(["explain", topic]) == 0
    assert "handler" in capsys.readouterr().out
    assert main(["explain", topic, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)
