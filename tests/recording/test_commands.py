"""`import` and `whatif` on the command line: what they print, write and refuse."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from ckptsim._api.columns import aligned
from ckptsim.scenarios.files import load
from ckptsim.scenarios.job import Job, Mode, RateChange
from ckptsim.sim.cli.main import main
from ckptsim.sim.infer.advice.budget import bounded, loads_of, records_per_s
from ckptsim.sim.infer.advice.warnings import warnings_of
from ckptsim.sim.infer.change import changed, read_change
from ckptsim.sim.infer.change.variants import parts_of
from ckptsim.sim.infer.folder import job_named, lasting
from ckptsim.sim.infer.job import CHECKPOINTS, scenario_of
from ckptsim.sim.infer.measures import predicted, simulated
from ckptsim.sim.infer.tasks.machine import MachineChoice
from ckptsim.sim.infer.verdict import moving
from ckptsim.sim.recording import read_recording
from tests.recording.folders import SHIPPED, copied, without

Captured = pytest.CaptureFixture[str]


def test_an_imported_job_is_a_scenario_with_comments(tmp_path: Path, capsys: Captured) -> None:
    """The file loads to all that was inferred, says of each value how it was found, and replays."""
    out = tmp_path / "job.toml"
    assert main(["import", str(SHIPPED / "job15"), "--out", str(out), "--seeds", "1"]) == 0
    printed = capsys.readouterr().out
    assert printed.splitlines()[-1] == "replay: good"
    text = out.read_text()
    assert "# counted: busy time over 21,371 records, from /vertices/:id/metrics?get" in text
    named = job_named(SHIPPED / "job15", machine=MachineChoice.QUIET)
    written = load(out)
    assert written == lasting(named.scenario, named.measures)
    job, before = (cast("Job", one.model) for one in (written, named.scenario))
    assert job.checkpointing.count is None  # it ends by its duration, in which as many complete
    assert before.checkpointing.count == CHECKPOINTS
    assert job.duration_ns >= (CHECKPOINTS + 1) * job.checkpointing.interval_ns
    for name in ("join: service", "clicks: rate", "join <- orders: keys", "join: alignment"):
        assert name in printed


def test_what_is_known_better_is_said(tmp_path: Path) -> None:
    """A rate that back-pressure hides is given by name."""
    out = tmp_path / "job.toml"
    words = ["--set", "source.srcA.rate=900 /s", "--set", "vertex.op1.state=1 mb", "--no-replay"]
    assert main(["import", str(SHIPPED / "job08"), "--out", str(out), *words]) == 0
    model = load(out).model
    assert isinstance(model, Job)
    assert model.vertices[0].rate_per_s == 900
    assert sum(model.vertices[2].subtask_state_bytes) == 1 << 20


def test_what_is_missing_is_asked_for(tmp_path: Path, capsys: Captured) -> None:
    """Without metrics the service time has a default, with its effect, in file and output."""
    folder = without(copied("job00", tmp_path), "metrics", "/vertices/")
    out = tmp_path / "job.toml"
    assert main(["import", str(folder), "--out", str(out), "--no-replay", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert "op1: service" in found["asked"]
    assert found["replay"] is None
    assert "op1: service = " in out.read_text()


def test_a_replay_says_why_it_is_not_to_be_trusted(tmp_path: Path, capsys: Captured) -> None:
    """A job that is asked to be something else does not do the measured values."""
    out = tmp_path / "job.toml"
    words = ["--set", "source.src.rate=10 /s", "--seeds", "1"]
    assert main(["import", str(SHIPPED / "job00"), "--out", str(out), *words]) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith("replay: do not trust, because duration is ")


def test_a_variant_is_set_beside_the_job_as_it_is(capsys: Captured) -> None:
    """The JSON has measured and predicted of the baseline, and the predicted variant."""
    option = "execution.checkpointing.unaligned.enabled"
    words = ["whatif", str(SHIPPED / "job00"), "--set", f"{option}=true", "--json", "--seeds", "1"]
    assert main(words) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["variant"]["change"] == {option: "true"}
    for where in (found["baseline"]["measured"], found["baseline"]["predicted"]):
        assert where["end_to_end_duration_ms"]["median"] == pytest.approx(620, rel=0.05)
        assert where["persisted_bytes"]["median"] == 0
    assert found["variant"]["predicted"]["end_to_end_duration_ms"]["median"] < 60
    assert found["variant"]["predicted"]["persisted_bytes"]["median"] > 500_000
    assert found["variant"]["price"]["in_flight_bytes"] > 500_000


def test_variants_are_combined(tmp_path: Path, capsys: Captured) -> None:
    """Each value of each varied option meets each of the others. A file has nothing measured."""
    out = tmp_path / "job.toml"
    assert main(["import", str(SHIPPED / "job00"), "--out", str(out), "--no-replay"]) == 0
    capsys.readouterr()
    varied = [
        "--vary",
        "execution.checkpointing.interval=500 ms, 1 s",
        "--vary",
        "taskmanager.network.memory.floating-buffers-per-gate=2,8,16",
    ]
    assert main(["whatif", str(out), *varied, "--seeds", "1", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert len(found["variants"]) == 6
    assert found["baseline"]["measured"] is None
    durations = [
        one["predicted"]["end_to_end_duration_ms"]["median"] for one in found["variants"][:3]
    ]
    assert durations == sorted(durations)
    assert durations[2] > 1.5 * durations[0]


def test_the_table_says_what_moved(capsys: Captured) -> None:
    """People see measured, predicted and changed in one table, and which part moved."""
    words = ["--set", "execution.checkpointing.unaligned.enabled=true", "--seeds", "1"]
    assert main(["whatif", str(SHIPPED / "job04"), *words]) == 0
    printed = capsys.readouterr().out
    assert "as it is, measured" in printed
    assert "unaligned.enabled=true: op3 is last: start delay" in printed
    assert "note: data in flight" not in printed
    assert "a storage whose limit was not seen" in printed


def test_a_note_of_every_variant_is_said_once(capsys: Captured) -> None:
    """Everything that is to be read with all variants is in one line."""
    words = ["--vary", "execution.checkpointing.aligned-checkpoint-timeout=0 ms,1 s"]
    words += ["--set", "execution.checkpointing.unaligned.enabled=true", "--seeds", "1"]
    assert main(["whatif", str(SHIPPED / "job04"), *words]) == 0
    printed = capsys.readouterr().out
    assert printed.count("a storage whose limit was not seen") == 1
    assert "note: every variant: data in flight is written" in printed
    assert max(map(len, printed.splitlines())) <= 120


def test_what_still_moves_is_said() -> None:
    """Queues that fill in the second half of a run are the ones of a young job, steady ones not."""
    options = {"execution.checkpointing.unaligned.enabled": "true", "source.src.rate": "300 /s"}
    named = job_named(SHIPPED / "job00", machine=MachineChoice.QUIET)
    steady = changed(named.scenario, options)
    model = cast("Job", steady.model)
    later = (RateChange(at_ns=9_000_000_000, factor=5.0),)
    vertices = (replace(model.vertices[0], rate_changes=later), *model.vertices[1:])
    filling = replace(steady, model=replace(model, vertices=vertices))
    assert not list(moving(simulated(steady, seeds=(1,))))
    said = list(moving(simulated(filling, seeds=(1,))))
    assert any(one.startswith("bytes in flight of checkpoints still move") for one in said)


@pytest.mark.parametrize("name", ["job04", "job08"])
@pytest.mark.parametrize("unaligned", [False, True])
def test_the_parts_of_a_checkpoint_add_up(name: str, unaligned: bool) -> None:
    """The last subtask's parts make up the median duration, measured and predicted."""
    named = job_named(SHIPPED / name, machine=MachineChoice.RECORDED)
    found = changed(
        named.scenario, {"execution.checkpointing.unaligned.enabled": str(unaligned).lower()}
    )
    assert named.measures is not None
    for measures in (named.measures, predicted(simulated(found, seeds=(1,)))):
        assert measures.last is not None
        parts = sum(parts_of(measures.last).values())
        assert parts == pytest.approx(measures.duration_ms["median"], rel=0.05, abs=5)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], "expected at least one --set, --vary, --conf or --failure"),
        (["--failure", "nobody"], 'one of "src", "op1"'),
        (["--failure", "--restart", "soon"], "--restart: found 'soon', expected a duration"),
        (["--failure", "--master", "elsewhere"], "expected local[*]"),
        (["--set", "execution.checkpointing.intervall=1 s"], "did you mean"),
        (["--set", "execution.checkpointing.interval=soon"], "a duration such as 500 ms"),
        (["--set", "source.nobody.rate=5 /s"], 'expected one of "src"'),
        (["--set", "vertex.op1.parallelism=none"], "a whole number"),
        (["--set", "job.network.latencyy=1 ms"], "latency"),
        (["--set", "nonsense"], "OPTION=VALUE"),
        (["--vary", "parallelism.default=" + ",".join(map(str, range(1, 90)))], "at most 64"),
    ],
)
def test_what_cannot_be_is_refused(capsys: Captured, words: list[str], says: str) -> None:
    """A wrong option or value ends with exit code 2 and one sentence of the value expected."""
    assert main(["whatif", str(SHIPPED / "job00"), *words]) == 2
    message = capsys.readouterr().err
    assert says in message
    assert "Traceback" not in message


@pytest.mark.parametrize("verb", ["import", "whatif"])
def test_no_recording_is_refused(tmp_path: Path, capsys: Captured, verb: str) -> None:
    """A folder without an index, and a scenario of another kind, are refused in words."""
    rest = ["--out", str(tmp_path / "out.toml")] if verb == "import" else ["--set", "a.b=1"]
    assert main([verb, str(tmp_path), *rest]) == 2
    assert "index.json" in capsys.readouterr().err
    other = tmp_path / "sync.toml"
    other.write_text('name = "a"\nlink = "ordering"\nsays = "b"\n')
    assert main([verb, str(other), *rest]) == 2
    assert "Traceback" not in capsys.readouterr().err


def job(name: str, change: dict[str, str] | None = None) -> Job:
    """Return the job of a shipped recording, changed."""
    scenario = scenario_of(read_recording(SHIPPED / name)).scenario
    model = changed(scenario, change or {}).model
    assert isinstance(model, Job)
    return model


def test_overload_is_said_with_its_factor() -> None:
    """Sources with a rate that ask for twice what an operator can do are called overloaded."""
    calm = job("job00", {"source.src.rate": "500 /s"})
    assert loads_of(calm)["op1"] == pytest.approx(0.51, abs=0.02)
    assert not any("overloaded" in one for one in warnings_of(calm))
    wild = job("job00", {"source.src.rate": "2000 /s"})
    assert any("op1 is overloaded" in one and " 2 times" in one for one in warnings_of(wild))


def test_a_table_is_no_wider_than_the_terminal() -> None:
    """Long labels of variants are wrapped beside their figures, which stay in one line."""
    labels = ["as it is", "unaligned.enabled=true, aligned-checkpoint-timeout=100 ms, b=c"]
    figures = [f"{number:,} figures" for number in range(10_000, 10_005)]
    lines = aligned(["", *figures], [(label, *figures) for label in labels])
    assert max(map(len, lines)) <= 120
    assert all("  ".join(figures) in line for line in lines[:3])
    assert " ".join(line[:39].strip() for line in lines[2:]).strip() == labels[1]


def test_loads_follow_selectivity_and_keys() -> None:
    """What an operator drops loads no one after it. The subtask with most keys counts."""
    change = {
        "source.orders.rate": "1000 /s",
        "source.clicks.rate": "100 /s",
        "vertex.join.selectivity": "0.5",
    }
    loads = loads_of(job("job15", change))
    plain = loads_of(job("job15", change | {"vertex.join.selectivity": "1"}))
    assert loads["enrich"] == pytest.approx(plain["enrich"] / 2)
    assert loads["join"] == pytest.approx(1100 * 0.491 * 0.000_62, rel=0.03)


def test_a_run_has_time_for_a_long_interval() -> None:
    """With an interval of minutes fewer checkpoints are simulated, but some after the warm-up."""
    scenario = scenario_of(read_recording(SHIPPED / "job00")).scenario
    long = bounded(changed(scenario, {"execution.checkpointing.interval": "5 min"})).model
    usual = scenario.model
    assert isinstance(long, Job)
    assert isinstance(usual, Job)
    assert usual.checkpointing.count == 14
    assert long.checkpointing.count == 4
    assert long.duration_ns > 5 * 300 * 10**9
    assert records_per_s(long) * long.duration_ns / 1e9 < 25_000_000


def test_parallelism_spreads_what_was_of_subtasks() -> None:
    """State is shared out, skew is forgotten, keys and forward edges go as the engine has them."""
    model = job("job15", {"vertex.join.parallelism": "6"})
    join = model.vertices[2]
    assert len(join.subtask_state_bytes) == 6
    assert sum(join.subtask_state_bytes) == pytest.approx(5_012_600, abs=6)
    assert join.inputs[0].shares == tuple(n / 128 for n in (22, 21, 21, 22, 21, 21))
    assert job("job15", {"vertex.join.parallelism": "4"}).vertices[2].inputs[0].shares == ()
    assert [v.parallelism for v in job("job15", {"parallelism.default": "5"}).vertices] == [5] * 4


def test_our_paths_are_options_too() -> None:
    """A path of ours sets what the engine has no name for."""
    model = job("job00", {"job.storage.write": "5 MB/s", "job.network.latency": "2 ms"})
    assert model.storage.write_bytes_per_s == 5_000_000
    assert model.network.latency_ns == 2_000_000
    assert model.checkpointing.mode is Mode.ALIGNED


def test_an_option_is_set_once() -> None:
    """Two values for one option are refused."""
    with pytest.raises(Exception, match="one value"):
        read_change(["a.b=1", "a.b=2"])


def _figures(found: dict[str, Any]) -> float:
    return float(found["predicted"]["end_to_end_duration_ms"]["median"])


def test_the_same_words_give_the_same_answer(capsys: Captured) -> None:
    """Seeds are fixed: an answer can be had again."""
    words = ["whatif", str(SHIPPED / "job08"), "--set", "source.srcB.rate=99 /s", "--json"]
    found = []
    for _ in range(2):
        assert main([*words, "--seeds", "2"]) == 0
        found.append(_figures(json.loads(capsys.readouterr().out)["variant"]))
    assert found[0] == found[1]
