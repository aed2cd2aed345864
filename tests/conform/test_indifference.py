"""Nothing but the script decides: names and remarks do not matter, nor which numbers are used."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ckptsim.sim.conform.runner import SUITES, load_adapter

DATA = Path(__file__).parents[1] / "data"
Vector = dict[str, Any]


def vectors(suite: str) -> list[Vector]:
    """Return the vectors of a suite that the default core is for."""
    paths = [DATA / folder / f"{suite}.jsonl" for folder in ("vectors", "recorded")]
    lines = [line for path in paths if path.exists() for line in path.read_text().split("\n")]
    found = [json.loads(line) for line in lines if line]
    return [vector for vector in found if load_adapter(suite).skip_reason(vector, None) is None]


@pytest.mark.parametrize("suite", SUITES)
def test_names_and_remarks_do_not_matter(suite: str) -> None:
    """A vector without name, origin, seed and note comes out as before."""
    adapter = load_adapter(suite)
    for vector in vectors(suite):
        bare = {k: v for k, v in vector.items() if k not in ("name", "origin", "note", "seed")}
        assert adapter.run(bare, None) is None, vector.get("name")


def moved(value: Any, by: int) -> Any:
    """Move every checkpoint number in a step, or in the expected value of it."""
    match value:
        case {"calls": calls, **rest}:
            if "pending_ids" in rest:
                rest["pending_ids"] = [each + by for each in rest["pending_ids"]]
            rest["latest"] += by if rest["latest"] >= 0 else 0
            metrics = [m | {"checkpoint": m["checkpoint"] + by} for m in rest["metrics"]]
            return rest | {"calls": [moved_call(each, by) for each in calls], "metrics": metrics}
        case {"checkpoint": checkpoint, **rest}:
            return rest | {"checkpoint": checkpoint + by}
        case _:
            return value


def moved_call(call: list[Any], by: int) -> list[Any]:
    place = {"init": 1, "trigger": 1, "abort": 1, "started": 2, "stopped": 2}.get(call[0])
    return [each + by if index == place else each for index, each in enumerate(call)]


@pytest.mark.parametrize("by", [1, 1_000_000_007])
def test_the_numbers_of_checkpoints_do_not_matter(by: int) -> None:
    """With all numbers moved, the handlers do the same under the moved numbers."""
    adapter = load_adapter("barriers")
    for vector in vectors("barriers"):
        changed = vector | {
            part: [moved(each, by) for each in vector[part]] for part in ("steps", "expect")
        }
        assert adapter.run(changed, None) is None, vector["name"]


def test_the_numbers_of_channels_do_not_matter() -> None:
    """With the channels of a single gate counted backwards, each does what its number says."""
    adapter = load_adapter("barriers")
    for vector in vectors("barriers"):
        last = vector["channels"] - 1
        if len(vector.get("gates", [0])) > 1:
            continue
        steps = [
            step | {"channel": last - step["channel"]} if "channel" in step else step
            for step in vector["steps"]
        ]
        expect = [
            row
            | {
                "calls": [
                    [call[0], last - call[1], *call[2:]]
                    if call[0] in ("block", "resume", "priority", "eod_ack")
                    else call
                    for call in row["calls"]
                ],
                "blocked": sorted(last - channel for channel in row["blocked"]),
            }
            for row in vector["expect"]
        ]
        changed = vector | {"steps": steps, "expect": expect}
        assert adapter.run(changed, None) is None, vector["name"]
