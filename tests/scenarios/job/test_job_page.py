"""`docs/jobs.md`: an example that is a job, and the defaults of the program."""

from __future__ import annotations

import re
from pathlib import Path

from ckptsim.scenarios import loads
from ckptsim.sim.world import run_world
from tests.scenarios.job.job_page import defaults

PAGE = (Path(__file__).parents[3] / "docs" / "jobs.md").read_text("utf-8")


def test_example_runs_on_both_planes() -> None:
    """The job of the page loads and completes as it is, and on the other plane as it says."""
    (example,) = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    on_buffers = loads(example, source="docs/jobs.md")
    on_records = loads(
        example.replace('plane = "buffers"', 'plane = "records"'), source="docs/jobs.md"
    )
    assert on_buffers.world == "barriers"
    assert on_records.world == "barrier_protocol"
    for scenario in (on_buffers, on_records):
        result = run_world(scenario, seed=0)
        assert result.run.outcome == "completed"
        assert result.violations == []


def test_defaults_are_what_the_program_has() -> None:
    """The page has the table that `tests.scenarios.job.job_page` makes."""
    assert f"<!-- defaults -->\n{defaults()}\n" in PAGE
