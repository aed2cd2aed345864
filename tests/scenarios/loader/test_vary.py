"""Varying a scenario by paths."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ckptsim.scenarios import Scenario, ScenarioError
from ckptsim.scenarios.planning import assignments, with_parameters
from tests.scenarios.loader import toy
from tests.scenarios.loader.strategies import toml_values


def _vary(**parameters: object) -> toy.Toy:
    return _model({path.replace("__", "."): value for path, value in parameters.items()})


def _model(parameters: dict[str, object]) -> toy.Toy:
    model = with_parameters(toy.EXAMPLE, parameters, links=toy.LINKS).model
    assert isinstance(model, toy.Toy)
    return model


def _problems(parameters: dict[str, Any]) -> list[str]:
    with pytest.raises(ScenarioError) as caught:
        with_parameters(toy.EXAMPLE, parameters, links=toy.LINKS)
    return [str(problem) for problem in caught.value.problems]


def test_no_parameters_change_nothing() -> None:
    """Without parameters the scenario is equal to the given one."""
    assert with_parameters(toy.EXAMPLE, {}, links=toy.LINKS) == toy.EXAMPLE


def test_single_values_are_set_by_full_and_short_keys() -> None:
    """Paths lead to single values. Short keys take texts with units."""
    assert _vary(toy__sockets=4).sockets == 4
    assert _vary(toy__timer__interval="2 s").timer.interval_ns == 2_000_000_000
    assert _vary(toy__timer__interval_ns=5_000_000).timer.interval_ns == 5_000_000
    assert _vary(toy__limit=7).limit == 7


def test_items_are_set_by_index_or_all_at_once() -> None:
    """Indexes lead to items of arrays, a star to all of them."""
    assert [n.records for n in _model({"toy.nodes[1].records": 5}).nodes] == [10, 5]
    assert [n.records for n in _model({"toy.nodes[*].records": 5}).nodes] == [5, 5]
    both = _model({"toy.nodes[1].records": 6, "toy.instants_ns[0]": "1 us"})
    assert (both.nodes[1].records, both.instants_ns) == (6, (1000, 2))


def test_items_that_have_a_name_are_set_by_it() -> None:
    """A name in brackets leads to the item. Problems there are reported by the name."""
    assert [n.records for n in _model({"toy.nodes[b].records": 5}).nodes] == [10, 5]
    assert _problems({"toy.nodes[zz].records": 5}) == [
        'parameters: toy.nodes: found "zz", expected one of "a", "b"'
    ]
    assert _problems({"toy.nodes[b].recrds": 5})[0].startswith("parameters: toy.nodes[b].recrds: ")
    assert _problems({"toy.nodes[b].records": 0})[0].startswith("parameters: toy.nodes[b].records")
    assert _problems({"toy.timer[b].records": 5}) == [
        'parameters: toy.timer: found "b", expected an index or a key'
    ]


def test_alternatives_are_begun_anew_by_their_kind() -> None:
    """Setting the kind drops the other keys. Setting it to what it is keeps them."""
    changed = _model({"toy.delay.delay": "7 ns", "toy.delay.kind": "fixed"})
    assert changed.delay == toy.Fixed(delay_ns=7)
    kept = _model({"toy.delay.kind": "spread", "toy.delay.delay_min": "1 ns"})
    assert kept.delay == toy.Spread(delay_ns_min=1, delay_ns_max=5)


def test_whole_tables_and_arrays_can_be_replaced() -> None:
    """A path to a table or array sets it as a whole, before paths inside it."""
    changed = with_parameters(
        toy.EXAMPLE,
        {
            "faults[0].at": "3 s",
            "faults": [{"kind": "crash", "node": "b", "at": "1 s"}],
            "toy.timer": {"timeout": "9 s"},
        },
        links=toy.LINKS,
    )
    assert changed.faults == (toy.Crash(at_ns=3_000_000_000, node="b"),)
    assert isinstance(changed.model, toy.Toy)
    assert changed.model.timer == toy.Timer(timeout_ns=9_000_000_000)


def test_problems_are_reported_like_those_of_a_file() -> None:
    """Wrong paths and wrong values are all reported, each at its path."""
    wrong = {"toy.sockts": 1, "toy.sockets.x": 1, "toy.nodes.x": 1, "toy.nodes[9]": 1}
    found = _problems(wrong)
    assert [line.split(", expected")[0] for line in found] == [
        "parameters: toy.sockts: found an unknown key",
        "parameters: toy.sockets: found a path beyond this",
        "parameters: toy.nodes: found the key x",
        "parameters: toy.nodes[9]: found an index beyond the end",
    ]
    assert found[0].endswith('did you mean "sockets"?')
    assert found[2].endswith("an index, such as toy.nodes[0] or toy.nodes[*]")
    found = _problems({"toy.sockets": 0, "toy.timer.interval": 5, "faults[0].node": 3})
    assert sorted(line.split(", expected")[0] for line in found) == [
        "parameters: faults[0].node: found 3",
        "parameters: toy.sockets: found 0",
        "parameters: toy.timer.interval: found 5",
    ]
    assert _problems({"faults[0].node": "zz"}) == [
        'parameters: faults[0].node: found "zz", expected one of the nodes a, b'
    ]
    assert _problems({"toy..x": 1})[0].startswith('parameters: found "toy..x", expected a path')
    assert _problems({"toy.timer.interval": "1 s", "toy.timer.interval_ns": 1})


def test_assignments_are_read_as_toml_or_text() -> None:
    """Words of a command line give numbers, arrays, tables and plain texts."""
    words = ["a.b=4", "c = true", "d=10 ms", 'e="x"', "f=[1, 2]", "g={kind = 'x'}", "h=1\ni=2"]
    assert assignments(words) == {
        "a.b": 4,
        "c": True,
        "d": "10 ms",
        "e": "x",
        "f": [1, 2],
        "g": {"kind": "x"},
        "h": "1\ni=2",
    }
    with pytest.raises(ScenarioError) as caught:
        assignments(["a", "=1", "b=1", "b=2"])
    assert len(caught.value.problems) == 3


@settings(max_examples=200)
@given(
    parameters=st.dictionaries(
        st.sampled_from(
            [
                *("toy", "faults", "faults[0]", "faults[0].kind", "faults[*].at", "toy.delay"),
                *("toy.delay.kind", "toy.delay.delay_max", "toy.nodes", "toy.nodes[1].after[0]"),
                *("toy.timer", "toy.timer.interval", "toy.sockets", "goals[0]", "name", "link"),
            ]
        )
        | st.text(max_size=10),
        toml_values(),
        max_size=4,
    )
)
def test_any_parameters_are_taken_or_refused(parameters: dict[str, Any]) -> None:
    """Whatever is set, the outcome is a scenario or a ScenarioError with printable problems."""
    try:
        found: Scenario | None = with_parameters(toy.EXAMPLE, parameters, links=toy.LINKS)
    except ScenarioError as error:
        found = None
        printable = [str(problem).isprintable() for problem in error.problems]
    assert found is not None or all(printable)
