"""The loader: values, units, and every problem at once."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ckptsim.scenarios import Scenario, ScenarioError, dialect, loads, scenario_key
from ckptsim.scenarios.files import plain, read
from ckptsim.scenarios.files.document import human
from ckptsim.scenarios.planning import METRICS
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


SCALES = [dialect.DURATION_UNITS, dialect.SIZE_UNITS, dialect.BYTE_RATE_UNITS]


@given(amount=st.integers(0, 1 << 70), scale=st.sampled_from(SCALES))
def test_what_is_written_is_read_back(amount: int, scale: Mapping[str, int]) -> None:
    """Every amount is written so that exactly that amount is read."""
    assert dialect.parse(dialect.write(amount, scale), scale) == amount


@pytest.mark.parametrize(
    ("text", "scale", "amount"),
    [
        ("1.5 s", dialect.DURATION_UNITS, 1_500_000_000),
        ("0.1 s", dialect.DURATION_UNITS, 100_000_000),
        ("3ms", dialect.DURATION_UNITS, 3_000_000),
        ("2 µs", dialect.DURATION_UNITS, 2_000),
        (" 7 h ", dialect.DURATION_UNITS, 25_200_000_000_000),
        ("3 min 59 s", dialect.DURATION_UNITS, 239_000_000_000),
        ("1h30min", dialect.DURATION_UNITS, 5_400_000_000_000),
        ("1 min 0.5 s", dialect.DURATION_UNITS, 60_500_000_000),
        ("0 ns", dialect.DURATION_UNITS, 0),
        ("32 KiB", dialect.SIZE_UNITS, 32_768),
        ("32 kB", dialect.SIZE_UNITS, 32_000),
        ("32 KB", dialect.SIZE_UNITS, 32_000),
        ("0.5 KiB", dialect.SIZE_UNITS, 512),
        ("20 MB/s", dialect.BYTE_RATE_UNITS, 20_000_000),
        ("1 MiB/s", dialect.BYTE_RATE_UNITS, 1_048_576),
    ],
)
def test_quantities(text: str, scale: Mapping[str, int], amount: int) -> None:
    """Numbers with a unit are read exactly."""
    assert dialect.parse(text, scale) == amount


@pytest.mark.parametrize(
    "text",
    [
        *("", "5", "s", "-1 s", "+1 s", "1 e3 s", "1e3 s", "1,5 s", ".5 s", "1. s", "1 s s"),
        *("1 S", "1 sec", "0.5 ns", "1 KiB", "inf s", "nan s", "٣ s", "1 s/s", "0x1 s", "1_000 s"),
        *("9" * 31 + " s", "5 ms 1 s", "1 s 1 s", "1 h 30", "1 h min"),
    ],
)
def test_what_is_no_duration(text: str) -> None:
    """Anything else is not a duration."""
    assert dialect.parse(text, dialect.DURATION_UNITS) is None


@given(value=st.recursive(st.none() | st.integers() | st.floats() | st.text(), st.lists))
def test_literals_are_short_and_printable(value: object) -> None:
    """Whatever is found is shown in one short printable literal."""
    assert len(dialect.shown(value)) <= 60
    assert dialect.shown(value).isprintable()


def test_enormous_integers_are_shown() -> None:
    """Integers of more digits than Python prints are shown by their size."""
    assert dialect.shown(1 << 100_000) == "an integer of 100001 bits"


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("completed_checkpoints", "checkpoints_completed"),
        ("latency_p95", "p95_latency_ns"),
        ("recovery", "recovery_ns"),
        ("downtime_sn", "downtime_ns"),
        ("nonsense", None),
    ],
)
def test_a_name_is_suggested_whatever_the_order_of_its_parts(word: str, meant: str | None) -> None:
    """The likeliest of the metrics is suggested, and none for a word that resembles none."""
    hint = "" if meant is None else f', did you mean "{meant}"?'
    assert dialect.suggestion(word, METRICS) == hint


def test_where_a_name_is_not_known_the_known_ones_are_listed() -> None:
    """A dozen of them at most, and the likeliest."""
    names = [f"stage{number}" for number in range(20)]
    said = dialect.one_of("stag7", names)
    assert said.startswith('one of "stage0", "stage1", ')
    assert said.endswith('"stage11" and 8 more, did you mean "stage7"?')


@pytest.mark.parametrize("number", ["9" * 5000, "-" + "9" * 5000, "9_" * 5000 + "9"])
def test_a_number_of_too_many_digits_is_told_with_its_line(number: str) -> None:
    """The sentence is ours: which line, how many digits, how many are read."""
    with pytest.raises(ScenarioError) as caught:
        loads(f'name = "x"\nlink = "ordering"\n[sync.sockets]\ncount = {number}\n', source="x.toml")
    digits = number.count("9")
    says = f"found a number of {digits} digits in line 4, expected at most 4300"
    assert says in str(caught.value)
