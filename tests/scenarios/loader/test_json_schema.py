"""The JSON Schema that the program prints takes what the loader takes, and refuses structure."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from ckptsim.scenarios.catalogue import all_names
from ckptsim.scenarios.files.json_schema import json_schema
from ckptsim.scenarios.planning import all_plans
from ckptsim.sim.cli import main
from tests.scenarios.loader.test_malformed import _some_mutations_of_every_link

SCHEMA = json_schema()
VALIDATOR = Draft202012Validator(SCHEMA)
SCENARIOS = Path(__file__).parents[3] / "scenarios"
EXAMPLE = SCENARIOS / "library" / "barriers" / "back_pressure_aligned.toml"
EVERY = 15  # of the documents with one mistake: all of them would take half a minute
UNSAID = "no number at "  # JSON Schema has no word for it

# Everything that is wrong, and the keys of `job.checkpointing` that make it so.
CHECKPOINTING: dict[str, dict[str, object]] = {
    "an unknown key": {"intervall": "1 s"},
    "a number without a unit under a short key": {"interval": 5},
    "a unit that is none": {"interval": "5 sec"},
    "parts of a duration in the wrong order": {"interval": "5 s 1 h"},
    "a part of a nanosecond": {"interval": "0.5 ns"},
    "one key twice": {"interval": "5 s", "interval_ns": 5_000_000_000},
    "a word that is no mode": {"mode": "unalined"},
}
FAULTS: dict[str, object] = {
    "a fault of another link": [{"kind": "drop_packet"}],
    "a table where an array is due": {"kind": "task_crash"},
}


def _example() -> dict[str, Any]:
    found = tomllib.loads(EXAMPLE.read_text())
    del found["job"]["checkpointing"]
    return found


def test_it_takes_the_whole_library() -> None:
    """Every scenario and plan that comes with the program is valid."""
    files = [*(SCENARIOS / "library").rglob("*.toml"), *(SCENARIOS / "plans").glob("*.toml")]
    assert len(files) >= len(all_names()) + len(all_plans())
    for path in files:
        found = [error.message for error in VALIDATOR.iter_errors(tomllib.loads(path.read_text()))]
        assert not found, f"{path.name}: {found[0]}"


def test_it_is_a_schema() -> None:
    """It keeps to its draft, and every key of a table has a description."""
    Draft202012Validator.check_schema(SCHEMA)
    assert all(
        key["description"] for key in SCHEMA["$defs"]["Checkpointing_1"]["properties"].values()
    )


@pytest.mark.parametrize("what", CHECKPOINTING)
def test_it_refuses_a_wrong_key(what: str) -> None:
    """A scenario with one mistake in a table is not valid. Without the mistake it is."""
    document = _example()
    assert VALIDATOR.is_valid(document)
    document["job"]["checkpointing"] = CHECKPOINTING[what]
    assert not VALIDATOR.is_valid(document)


@pytest.mark.parametrize("what", FAULTS)
def test_it_refuses_a_wrong_fault(what: str) -> None:
    """A scenario with faults that its link does not know, or no array of them, is not valid."""
    assert not VALIDATOR.is_valid({**_example(), "faults": FAULTS[what]})


def test_it_refuses_what_the_loader_refuses_in_one_value() -> None:
    """Of documents with one wrong value or key it takes those alone that it has no word for."""
    wrong = _some_mutations_of_every_link()[::EVERY]
    taken = [one.name for one in wrong if VALIDATOR.is_valid(one.document)]
    assert len(wrong) > 15
    assert all(name.startswith(UNSAID) for name in taken), taken


def test_the_command_prints_and_writes_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`ckptsim schema` prints the schema, and writes the same one where `--out` says."""
    assert main(["schema"]) == 0
    assert json.loads(capsys.readouterr().out) == SCHEMA
    path = tmp_path / "new" / "schema.json"
    assert main(["schema", "--out", str(path)]) == 0
    assert json.loads(path.read_text()) == SCHEMA
