"""Cores in programs of their own: the same runs as in the process, and failures that name them."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ckptsim.scenarios.catalogue import by_name
from ckptsim.sim.blame import CORE_RAISED
from ckptsim.sim.cli import main
from ckptsim.sim.slots import SLOTS
from ckptsim.sim.slots.guest import CORE_ANSWERS, TIMEOUT_VARIABLE
from ckptsim.sim.slots.process import program
from ckptsim.sim.slots.process.codec import DOORS, CodecError, Numbered, decoder, encoder
from ckptsim.sim.world import run_world

VECTORS = Path(__file__).parents[1] / "data" / "vectors"
# Serves our own core of a slot. The first argument names it.
SERVED = """
import sys
from importlib import import_module
from ckptsim.sim.slots import SLOTS
from ckptsim.sim.slots.guest import CORE_ANSWERS, TIMEOUT_VARIABLE
from ckptsim.testing import serve
serve(sys.argv[1], SLOTS[sys.argv[1]].default())
"""
# A program that answers well until its third event, and then as the first argument says.
FAULTY = """
import json, os, sys, time
steps = 0
for line in sys.stdin:
    message = json.loads(line)
    answer = {"n": message["n"], "protocol": 1, "ok": True}
    if message["op"] == "step":
        steps += 1
        answer = {"n": message["n"], "effects": []}
        if steps == 3:
            match sys.argv[1]:
                case "hangs":
                    time.sleep(60)
                case "ends":
                    print("out of luck", file=sys.stderr)
                    sys.exit(7)
                case "closes":
                    os.close(1)
                    time.sleep(60)
                case "prints":
                    print("a log line")
                case "floods":
                    print("x" * (1 << 23))
                case "counts":
                    answer["n"] += 1
                case other:
                    answer |= json.loads(other)
    elif message["op"] == "ask":
        answer = {"n": message["n"], "answer": 0 if message["question"] == "pending_count" else []}
    print(json.dumps(answer), flush=True)
"""
SILENT = "import time; time.sleep(60)"
OTHER_VERSION = """
import json, sys
for line in sys.stdin:
    print(json.dumps({"n": json.loads(line)["n"], "protocol": 2}), flush=True)
"""


def command(folder: Path, text: str, *words: str) -> str:
    """Write a program and return `process:` with the command that runs it."""
    file = folder / "program.py"
    file.write_text(text, encoding="utf-8")
    return "process:" + shlex.join([sys.executable, str(file), *words])


@pytest.mark.parametrize(
    ("slot", "names"),
    [
        ("ordering", ["reference", "pipeline_aligned"]),
        ("handler", ["final_pair", "alignment_timeout"]),
        ("coordinator", ["keyed_crash", "alignment_timeout"]),
        ("lifecycle", ["final_pair", "keyed_crash", "pipeline_aligned"]),
        ("channel_state", ["flink_24667_disk_error", "keyed_crash"]),
    ],
)
def test_a_core_behind_lines_runs_as_the_core_itself(tmp_path, slot, names) -> None:
    """Our core of each slot, served by a program, leads to the same digests and violations."""
    served = command(tmp_path, SERVED, slot)
    for name in names:
        scenario = by_name(name)
        for ties in ("structural", "random"):
            here = run_world(scenario, seed=3, ties=ties)
            there = run_world(scenario, seed=3, ties=ties, cores={slot: served})
            assert there.run.digest == here.run.digest, name
            assert [row.says for row in there.violations] == [row.says for row in here.violations]


@pytest.mark.parametrize(
    ("slot", "suite"),
    [("ordering", "ordering"), ("handler", "barriers"), ("lifecycle", "final_checkpoint")],
)
def test_vectors_pass_behind_lines(tmp_path, capsys, slot, suite) -> None:
    """Every vector that our core passes, it passes as a program: answers and refusals cross."""
    file = str(VECTORS / f"{suite}.jsonl")
    code = main(["conform", file, "--core", f"{slot}={SLOTS[slot].ours}"])
    ours = capsys.readouterr().out.splitlines()[-1]
    served = ["--core", f"{slot}={command(tmp_path, SERVED, slot)}"]
    assert main(["conform", file, *served]) == code
    assert capsys.readouterr().out.splitlines()[-1] == ours


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        ("hangs", "has not answered event RecordsRead within 0.5 s"),
        ("ends", "ended at event RecordsRead (exit code 7); it said: out of luck"),
        ("closes", "ended at event RecordsRead"),
        ("prints", "answered event RecordsRead with 'a log line', expected a JSON object"),
        ("floods", "answered event RecordsRead with more than"),
        ("counts", 'expected "n": '),
        ('{"effects": 1}', "expected effects of RecordsRead"),
        ('{"effects": [{"type": "Dance"}]}', ".type: found 'Dance', expected one of OpenStream"),
        ('{"effects": [{"type": "EndChannel"}]}', "expected EndChannel with channel"),
        (
            '{"effects": [{"type": "EndChannel", "channel": "1"}]}',
            "channel: found '1', expected integer",
        ),
        (
            '{"effects": [{"type": "EndChannel", "channel": 1, "tone": 2}]}',
            "tone: found 2, expected channel only",
        ),
        ('{"failed": "ran out of ideas"}', "failed: ran out of ideas"),
        ('{"refused": 3}', 'expected an object with "kind"'),
    ],
)
def test_a_program_that_fails_is_named(tmp_path, monkeypatch, capsys, fault, says) -> None:
    """Whatever it does is a violation with slot and command, exit code 1 and no traceback."""
    monkeypatch.setenv(TIMEOUT_VARIABLE, "0.5" if fault == "hangs" else "20")
    core = f"ordering={command(tmp_path, FAULTY, fault)}"
    assert main(["check", "reference", "--seeds", "2", "--core", core]) == 1
    told = capsys.readouterr()
    silent = fault in {"hangs", "ends", "closes"}
    assert f"VIOLATED {CORE_ANSWERS if silent else CORE_RAISED}" in told.out
    raised = ": " if silent else " raised CoreFailedError: "
    assert f"core {core}{raised}the program " in told.out
    assert says in told.out
    assert "Traceback" not in told.out + told.err


def test_a_failing_program_is_started_again(tmp_path) -> None:
    """The run after a failure has a program of its own, and fails in the same way."""
    core = {"ordering": command(tmp_path, FAULTY, "ends")}
    first, second = (run_world(by_name("reference"), seed=1, cores=core) for _ in range(2))
    assert [row.says for row in first.violations] == [row.says for row in second.violations]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (SILENT, "has not answered hello within 0.5 s"),
        (OTHER_VERSION, '"protocol" of its hello: found 2, expected 1'),
        ("import sys; sys.exit('no database')", "ended at hello (exit code 1); it said: no data"),
    ],
)
def test_a_program_without_a_hello_is_refused(tmp_path, monkeypatch, capsys, text, says) -> None:
    """The user's mistake, with exit code 2: it does not speak, or not this version."""
    monkeypatch.setattr(program, "HELLO_SECONDS", 0.5 if text == SILENT else 20.0)
    core = f"ordering={command(tmp_path, text)}"
    assert main(["check", "reference", "--core", core]) == 2
    error = capsys.readouterr().err
    assert f"--core {core}: " in error
    assert says in error
    assert "Traceback" not in error


@pytest.mark.parametrize(
    ("core", "says"),
    [
        ("process:", "found no command, expected one after `process:`"),
        ("process:no_such_program --now", "cannot be started: "),
        ("process:python 'x", "which ends early: No closing quotation"),
    ],
)
def test_a_command_that_cannot_be_started_is_refused(capsys, core, says) -> None:
    """Everything that is no command ends with exit code 2 and a sentence."""
    assert main(["run", "reference", "--core", core]) == 2
    assert says in capsys.readouterr().err


def test_slots_without_events_have_no_programs(capsys) -> None:
    """The store and the parts of cores are refused, with the slots that can be programs."""
    assert main(["run", "keyed_crash", "--core", "subtask=process:true"]) == 2
    found = "cores of slot 'subtask' cannot be in a program of their own"
    assert f"{found}, expected one of {', '.join(DOORS)}" in capsys.readouterr().err
    whole = [name for name, slot in SLOTS.items() if slot.whole]
    assert list(DOORS) == [name for name in whole if name != "store"]


def test_what_ran_is_named_by_its_command(tmp_path, capsys) -> None:
    """Signs of equality and blanks of a command survive into JSON and the replay command."""
    core = command(tmp_path, SERVED, "ordering", "--option=1 2")
    assert main(["run", "reference", "--json", "--core", core]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["cores"] == {"ordering": core}
    assert shlex.split(found["replay"])[-1] == f"ordering={core}"


@pytest.mark.parametrize("slot", DOORS)
@given(data=st.data())
@settings(max_examples=25)
def test_values_come_back_as_they_went(slot, data) -> None:
    """Every event and effect of a slot is JSON that decodes to an equal one."""
    door = DOORS[slot]
    for kind in (door.events, door.effects):
        value = data.draw(st.from_type(kind))
        opaque = Numbered()
        crossed = json.loads(json.dumps(encoder(kind)(value, opaque)))
        assert decoder(kind)(crossed, "here", opaque) == value


@pytest.mark.parametrize(
    ("found", "says"),
    [
        (7, "expected an object with"),
        ({"type": "SendState"}, "expected SendState with scope"),
        ({"type": "EndStream", "stream": 1, "records_read": 1}, "expected StreamDescriptor, an ob"),
        ({"type": "EndStream", "stream": {"name": "a"}, "records_read": True}, "expected integer"),
        ({"type": "FailSync", "kind": "LATER"}, "expected one of UNKNOWN_STREAM"),
    ],
)
def test_what_is_no_effect_says_where(found, says) -> None:
    """A value that is not as declared is refused with its place, the value found and expected."""
    with pytest.raises(CodecError, match="effect") as error:
        decoder(DOORS["ordering"].effects)(found, "effect", Numbered())
    assert says in str(error.value)


def test_a_handle_has_to_be_one_that_was_given() -> None:
    """A core cannot make up the message of a state."""
    opaque = Numbered()
    assert opaque.put("message") == 1
    with pytest.raises(CodecError, match="here: found 2, expected a handle that came"):
        decoder(object)(2, "here", opaque)
