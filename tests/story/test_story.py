"""Stories: the entries that concern a checkpoint, and no others, in words."""

from __future__ import annotations

import re

import pytest

from ckptsim.scenarios.links import LINKS
from ckptsim.sim.story import Target, Telling, instant, shortened, tell
from ckptsim.sim.world import load_world

VOCABULARY = {
    "read": Telling("reads {count} records of {id}", "scope id count"),
    "state": Telling("gets state {scope}/{index} over {id}", "scope index id"),
    "sent": Telling("sends state {scope}/{index}", "scope index"),
    "crash": Telling("crashes", always=True),
    "effects": Telling("says {words}", "words*"),
}
TRACE = [
    (1_000_000, "read", "socket[0]", "users", "a", 3),
    (1_500_000, "read", "socket[0]", "users", "a", 4),
    (2_000_000, "read", "socket[0]", "orders", "a", 5),
    (2_500_000, "read", "socket[1]", "users", "b", 5),
    (3_000_001, "state", "socket[0]", "users", 1, "a"),
    (3_500_000, "state", "socket[0]", "users", 2, "b"),
    (4_000_000, "crash", "destination"),
    (5_000_000, "sent", "destination", "users", 1),
    (5_500_000, "effects", "destination", "x", 1, None),
    (6_000_000, "other", "destination", 7),
]


def test_a_checkpoints_story_has_its_entries_those_of_its_ids_and_the_faults():
    """Same index of the same scope, entries of the ids it names, and what every story has."""
    lines = tell(TRACE, VOCABULARY, target=Target(1, "users"))
    assert [str(line).strip() for line in lines] == [
        "1.000 ms  socket[0]: reads 3 records of a (2 times, until 1.500 ms)",
        "3.000 ms  socket[0]: gets state users/1 over a",
        "4.000 ms  destination: crashes",
        "5.000 ms  destination: sends state users/1",
    ]


def test_a_story_ends_where_it_is_told_to():
    """Nothing after the given instant is reported, everything that is at it is."""
    lines = tell(TRACE, VOCABULARY, target=Target(1), until_ns=4_000_000)
    assert lines[-1].text == "crashes"


def test_everything_is_told_without_a_target_and_unknown_kinds_barely():
    """The story of a run has every entry. A kind without words is shown with its fields."""
    texts = [line.text for line in tell(TRACE, VOCABULARY)]
    assert texts[-2:] == ["says x 1 None", "other 7"]
    assert sum(line.count for line in tell(TRACE, VOCABULARY)) == len(TRACE)


def test_long_stories_keep_their_end():
    """A shortened story says how much is left out and ends as the long one does."""
    trace = [(n, "sent", f"d[{n}]", "users", n) for n in range(100)]
    lines = tell(trace, VOCABULARY)
    short = shortened(lines, 10)
    assert len(short) == 10
    assert short[3].strip() == "(91 lines left out)"
    assert short[-6:] == [str(line) for line in lines[-6:]]
    assert shortened(lines, 100) == [str(line) for line in lines]


def test_instant_are_exact():
    """No digit of a nanosecond is lost."""
    assert instant(1) == "0.000 ms"
    assert instant(123_456_789_012) == "123.456789 s"


@pytest.mark.parametrize("link", LINKS)
def test_a_field_has_its_unit_once(link):
    """Times and sizes are written with their units, so no sentence adds another one."""
    for kind, telling in load_world(link).VOCABULARY.items():
        assert not re.search(r"(_ns|bytes)\} (ns|us|ms|s|bytes)\b", telling.says), kind
