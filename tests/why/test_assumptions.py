"""What an answer rests on is said in few lines, and simulated where that is cheap."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from ckptsim._api.columns import paragraph
from ckptsim.scenarios import Scenario
from ckptsim.scenarios.files import load
from ckptsim.scenarios.planning import with_parameters
from ckptsim.sim.cli.main import main
from ckptsim.sim.infer.assumptions import assumptions

JOB = Path(__file__).parents[1] / "data" / "field" / "jobs" / "none-completed.toml"


def scenario(**values: object) -> Scenario:
    """Return the job of 1 GB a subtask with parameters set."""
    paths = {path.replace("__", "."): value for path, value in values.items()}
    return with_parameters(load(JOB), paths)


def test_the_weightiest_assumption_is_the_one_of_the_longest_part() -> None:
    """The work of a core decides without a limit, then a low limit, then the service."""
    assert assumptions(scenario())[1].startswith(
        "work of a core (job.machine.cost_factor) counts most: 1.517 s as it is, halved 758.8 ms,"
        " doubled 3.034 s, the median of the first 2 checkpoints"
    )
    slow = assumptions(scenario(job__storage__write_bytes_per_s=100_000_000))
    assert "the storage has no limit" not in slow[0]
    assert "halved 20.01 s, doubled 5.01" in slow[1]
    high = assumptions(scenario(job__storage__write_bytes_per_s=10**10))
    assert high[1].startswith("work of a core")
    busy = with_parameters(
        scenario(),
        {
            "job.vertices[source].rate_per_s": 1_900,
            "job.vertices[keyed].state_bytes": 0,
            "job.checkpointing.interval_ns": 1_000_000_000,
            "job.duration_ns": 10_000_000_000,
        },
    )
    assert "1 ms for a record of keyed (job.vertices[keyed].service) counts" in assumptions(busy)[1]


def test_a_long_run_is_not_made_again() -> None:
    """What would take longer than a quarter of the run is named, with the command that does it."""
    many = scenario(job__duration_ns=3_600_000_000_000)
    many = with_parameters(many, {"job.vertices[source].rate_per_s": 100_000})
    assert "whatif JOB --vary job.machine.cost_factor=" in assumptions(many)[1]
    records = replace(many, model=replace(many.model, plane="records"))
    assert not assumptions(records)


@pytest.mark.parametrize(
    "words",
    [
        ["run"],
        ["explain"],
        ["whatif", "--seeds", "1", "--set", "job.machine.cores=2"],
    ],
)
def test_answers_say_what_they_rest_on(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """The verbs print it once, in at most five lines."""
    main([words[0], str(JOB), *words[1:]])
    shown = capsys.readouterr().out
    assert shown.count("rests on: ") == shown.count("counts most: ") == 1
    assert sum(len(paragraph(line)) for line in assumptions(load(JOB))) <= 5
