"""Commands that documents show beside those that judge a core: each does what its words promise."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from ckptsim.analysis.spark.package import program_root
from ckptsim.scenarios.catalogue import all_scenarios
from ckptsim.scenarios.planning import all_plans
from ckptsim.sim.cli import main
from tests.search.documented.promises import LONG, Check, Promise, coverage, has, matches, rows

ROOT = Path(__file__).parents[3]
SPARK = pytest.mark.spark
RECORDING = "tests/data/airbyte/source_faker.jsonl"
CUT = "VIOLATED restored_checkpoint_is_a_cut"


def lists_all(text: str) -> None:
    """The links with the counts of all scenarios and sweep plans that come with the program."""
    rows = re.findall(r"(?m)^\w+ +(\d+) +(\d+) ", text)
    assert sum(int(scenarios) for scenarios, _ in rows) == len(all_scenarios())
    assert sum(int(plans) for _, plans in rows) == len(all_plans())


def orders_states(text: str) -> None:
    """Every state of the recording, per stream in its order, and no record."""
    lines = map(json.loads, (ROOT / RECORDING).read_text(encoding="utf-8").splitlines())
    wanted = [line for line in lines if line["type"] == "STATE"]
    found = [json.loads(line) for line in text.splitlines()]
    assert {line["type"] for line in found} == {"STATE"}
    for stream in {_stream(line) for line in wanted}:
        states = [_data(line) for line in wanted if _stream(line) == stream]
        assert [_data(line) for line in found if _stream(line) == stream] == states


def _stream(message: dict[str, dict[str, dict[str, dict[str, str]]]]) -> str:
    return message["state"]["stream"]["stream_descriptor"]["name"]


def _data(message: dict[str, dict[str, dict[str, object]]]) -> object:
    return message["state"]["stream"]["stream_state"]


def reports(text: str) -> None:
    """One page with figures."""
    page = Path(text.strip().splitlines()[-1].removeprefix("report: "))
    assert page.read_text(encoding="utf-8").count("<svg") > 3


# Page -> its commands in order: exit code, what the output promises, when it is run.
PROMISES: dict[str, list[Promise]] = {
    "docs/first-steps.md": [
        ("ckptsim list", 0, lists_all, []),
        (
            "ckptsim order tests/data/airbyte/source_faker.jsonl > states.jsonl",
            0,
            orders_states,
            [],
        ),
        (
            "ckptsim validate tests/data/flink/calibration.jsonl",
            0,
            has("57 of 57 cells (100.0 %)", "26 of 26"),
            [LONG],
        ),
        (
            "ckptsim sweep upload_latency --out out/uploads",
            0,
            matches(r"^report: out/uploads/report.html$"),
            [SPARK],
        ),
        ("ckptsim report out/uploads", 0, reports, [SPARK]),
    ],
    "docs/composed.md": [
        ("ckptsim run pipeline --store out/runs.duckdb", 0, matches("^violations +0$"), []),
        (
            "ckptsim store out/runs.duckdb",
            0,
            has("checkpoints_v1/0", "pipeline_v1/0", "pipeline_v1/1"),
            [],
        ),
    ],
    "docs/recovery.md": [
        ("ckptsim run recovery_in_its_time", 0, matches("^recoveries +2$"), []),
        ("ckptsim run lost_in_silence", 0, matches(r"^reached .*lost_by_heartbeat \(1\)"), []),
        ("ckptsim run rescaled_in_its_time", 0, matches("^recoveries +1$"), []),
        ("ckptsim run resubmitted", 0, matches(r"^(reached)? .*\bresubmitted \(2\)"), []),
        ("ckptsim run resubmitted_on_buffers", 0, matches("^violations +0$"), []),
        (
            "ckptsim validate tests/data/flink/recovery.jsonl",
            0,
            has("29 of 29 (100 %)", "31 of 32 (97 %)", "23 of 24 (96 %)"),
            [LONG],
        ),
    ],
    "docs/checkpoint-protocols.md": [
        (
            "ckptsim run uncoordinated_crash",
            0,
            matches(r"^discarded_checkpoints +[1-9]"),
            [],
        ),
        (
            "ckptsim check communication_induced_crash --seeds 100 --ties random,pct",
            0,
            matches("^violations +none$"),
            [],
        ),
        ("ckptsim run domino_effect", 0, matches(r"^discarded_checkpoints +[1-9]"), []),
        *[
            (f"ckptsim check {scenario} --seeds 50 --mutant {mutant}", 1, has(wanted), [])
            for scenario, mutant, wanted in (
                ("uncoordinated_crash", "newest_of_each", CUT),
                ("domino_effect", "forgets_messages_on_their_way", CUT),
                ("communication_induced_crash", "never_forced", "common_index_is_a_line"),
            )
        ],
        (
            "ckptsim sweep checkpoint_protocols --out out/protocols --report",
            0,
            has("report: "),
            [LONG, SPARK],
        ),
    ],
}
# What other tests run: the commands of these pages, by verb. And those that name what a reader has.
ELSEWHERE = {
    "docs/first-steps.md": (
        *("run", "check", "hunt", "replay", "conform", "explain"),  # test_commands
        *("capture", "import", "whatif"),  # they need a running job: tests of their own
    ),
    "docs/composed.md": ("sweep",),  # every plan is loaded, and small ones are swept, by tests
    "docs/finding-bugs.md": ("check", "hunt", "replay"),  # test_commands
    "docs/python.md": ("replay",),  # outputs of tests/package/test_python_page.py
    "docs/sweeps.md": ("sweep", "report"),  # tests/analysis: test_commands, test_view, test_cluster
    "docs/scenarios.md": ("list", "explain", "run", "sweep"),  # tests/scenarios/test_docs.py
    # tests/store/real/test_measure.py
    "docs/checkpoint-store.md": ("measure-store", "sweep", "report"),
}


def commands(page: str) -> list[str]:
    """Return the commands that a page shows in blocks, without comments."""
    # Fences open and close blocks in turn, also the ones of pictures between the others.
    blocks = (ROOT / page).read_text(encoding="utf-8").split("\n```")[1::2]
    return [
        shlex.join(shlex.split(line, comments=True)).replace("'>'", ">")
        for block in blocks
        for line in block.splitlines()
        if line.startswith("ckptsim ") and not line.startswith("ckptsim explain: ")
    ]


def test_each_command_of_each_page_is_run_by_a_test() -> None:
    """What these pages show is here with its promise, or is of a verb that is run elsewhere."""
    for page in PROMISES | ELSEWHERE:
        elsewhere = ELSEWHERE.get(page, ())
        here = [each for each in commands(page) if each.split()[1] not in elsewhere]
        assert here == [command for command, *_ in PROMISES.get(page, [])], page


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder as a reader has it: commands of one page find what those before have left."""
    made = tmp_path_factory.mktemp("reader")
    (made / "tests").symlink_to(ROOT / "tests")
    return made


def test_rows_of_the_coverage_are_whole_and_differ() -> None:
    """Each row has a point, section, command and outcome, and no command comes twice."""
    every = rows()
    assert len(every) >= 145
    for row in every:
        assert len(row) == 4, row
        assert all(row), row
        assert re.search(r"ckptsim \w+ \S", row[2]), row
        assert row[3].count("`") >= 2, row
    assert len({row[2] for row in every}) == len(every)


def test_a_checkout_knows_the_mutants_of_the_tests() -> None:
    """The variable before a command is enough, also where only the program is on the path."""
    command = next(row[2].strip("`") for row in rows() if row[2].startswith("`CKPTSIM_MUTANTS="))
    variable, _, *words = shlex.split(command)
    environment = {**os.environ, "PYTHONPATH": str(program_root())}
    environment |= dict([variable.split("=")])
    program = [sys.executable, "-P", "-m", "ckptsim", *words]
    done = subprocess.run(program, cwd=ROOT, env=environment, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (1, b"")


Case = tuple[str, int, Check]
CASES = [
    pytest.param((command, code, check), marks=marks, id=command)
    for promised in (*PROMISES.values(), coverage())
    for command, code, check, marks in promised
]


@pytest.mark.parametrize("case", CASES)
def test_a_command_does_what_its_page_promises(
    case: Case,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The exit code is the promised one, and the output has what the page says of it."""
    command, code, check = case
    monkeypatch.chdir(folder)
    *before, words = (_words(line, monkeypatch) for line in command.splitlines())
    for each in before:
        assert main(each) == 0
    if words[0] == "sweep":  # Spark has one session per process, which other tests may have open
        program = [sys.executable, "-P", "-m", "ckptsim"]
        environment = {**os.environ, "PYTHONPATH": str(program_root())}
        done = subprocess.run(
            [*program, *words], env=environment, capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stderr) == (code, "")
        check(done.stdout)
        return
    assert main(words) == code
    check(capsys.readouterr().out)


def _words(command: str, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the words of a command after its program, with the variables before it set."""
    words = shlex.split(command)
    while words[0] != "ckptsim":
        monkeypatch.setenv(*words.pop(0).split("="))
    return words[1 : words.index(">")] if ">" in words else words[1:]
