"""The loader: values, units, and every problem at once."""

from __future__ import annotations

import pytest

from ckptsim.scenarios import Scenario, ScenarioError, loads, scenario_key
from ckptsim.scenarios.files import human, plain, read
from tests.scenarios.loader.toy import LINKS, Crash, Medium, Node, Spread, Toy

HEAD = 'name = "x"\nlink = "toy"\nsays = "a test"\n'


def _load(body: str) -> Scenario:
    return loads(HEAD + body, source="x.toml", links=LINKS)


def _problems(body: str) -> list[str]:
    with pytest.raises(ScenarioError) as caught:
        _load(body)
    return [str(problem) for problem in caught.value.problems]


def test_defaults_make_a_whole_scenario() -> None:
    """A file with the head alone is a scenario with every parameter at its default."""
    assert _load("").model == Toy()


def test_values_arrive_in_base_units() -> None:
    """Texts with units become whole numbers of base units, enumerations their members."""
    scenario = _load(
        """
        [toy]
        medium = "stdio"
        limit = "none"
        buffer = "1 MiB"
        write_bytes_per_s = "20 MB/s"
        records = "600 /min"
        share_ratio = "25 %"
        instants_ns = ["1.5 s", 7]
        timer = {interval = "1.5 ms"}
        delay = {kind = "spread", delay_max = "2 s"}
        [[toy.nodes]]
        name = "a"
        [[toy.nodes]]
        name = "b"
        after = ["a"]
        [[faults]]
        kind = "crash"
        at = "1 min"
        node = "b"
        """
    )
    model = scenario.model
    assert isinstance(model, Toy)
    assert model.medium is Medium.STDIO
    assert model.limit is None
    assert (model.buffer_bytes, model.write_bytes_per_s) == (1 << 20, 20_000_000)
    assert (model.records_per_s, model.share_ratio) == (10.0, 0.25)
    assert model.instants_ns == (1_500_000_000, 7)
    assert model.timer.interval_ns == 1_500_000
    assert model.delay == Spread(delay_ns_max=2_000_000_000)
    assert model.nodes == (Node(name="a"), Node(name="b", after=("a",)))
    assert scenario.faults == (Crash(at_ns=60_000_000_000, node="b"),)


def test_all_problems_come_at_once() -> None:
    """One error lists every problem with its path, in the order of the file."""
    found = _problems(
        """
        speed = 3
        [toy]
        sockts = 4
        sockets = true
        interval_ns = 1
        timer = {interval = 5, timeout = "soon"}
        delay = {kind = "spred"}
        [[toy.nodes]]
        name = "a"
        records = 1e400
        [[faults]]
        kind = "stall"
        at = "1 parsec"
        """
    )
    assert [line.split(": found")[0] for line in found] == [
        "x.toml: speed",
        "x.toml: toy.sockts",
        "x.toml: toy.sockets",
        "x.toml: toy.interval_ns",
        "x.toml: toy.timer.interval",
        "x.toml: toy.timer.timeout",
        "x.toml: toy.delay.kind",
        "x.toml: toy.nodes[0].records",
        "x.toml: faults[0].at",
    ]
    assert 'did you mean "sockets"?' in found[1]
    assert "found true, expected a whole number, 1 to 64" in found[2]
    assert 'did you mean "spread"?' in found[6]


def test_cross_field_checks_carry_the_path() -> None:
    """What must hold between values is checked in the table that knows it, faults in the model."""
    ring = """
        nodes = [{name = "a"}, {name = "a", after = ["b"]}, {name = "b", after = ["a"]}]
        """
    assert _problems("[toy]" + ring) == [
        'x.toml: toy.nodes[1].name: found "a", expected a name that occurs once',
        "x.toml: toy.nodes: found b -> a -> b, expected a graph without cycles",
    ]
    assert _problems('[[faults]]\nkind = "crash"\nat = "1 s"\nnode = "q"') == [
        'x.toml: faults[0].node: found "q", expected one of the nodes '
    ]


def test_a_short_key_of_two_parameters_is_none() -> None:
    """Where two parameters differ by their unit alone, neither has a short key."""
    assert _problems('[toy]\nwrite = "1 s"')[0].startswith("x.toml: toy.write: found an unknown")


def test_bare_numbers_under_short_keys_are_refused() -> None:
    """A number without a unit needs the key that has it, in arrays too."""
    for line in ("buffer = 5", "buffer = 5.0", "instants = [1]", "timer = {interval = 0}"):
        assert "expected a text with a unit, or " in _problems(f"[toy]\n{line}")[0]


def test_both_forms_are_read_back() -> None:
    """The plain and the human document of a scenario both give an equal scenario."""
    scenario = _load(
        """
        violates = ["order"]
        [toy]
        limit = "none"
        records = "7 /s"
        [[toy.nodes]]
        name = "a"
        [[faults]]
        kind = "stall"
        """
    )
    for document in (plain(scenario, LINKS), human(scenario, LINKS)):
        assert read(document, source="again", links=LINKS) == scenario
    assert scenario_key(scenario, LINKS) == scenario_key(scenario, LINKS)
