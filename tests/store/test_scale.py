"""Ten thousand partitions, dictionaries that cost time, and an endpoint that 500 clients ask."""

from __future__ import annotations

from itertools import count
from pathlib import Path

import pytest

from ckptsim.models.store import StoreClient, StoreError, TopicPartition
from ckptsim.models.store.state import SharedCopies, VersionCopy, agreed
from ckptsim.scenarios.catalogue import by_name
from ckptsim.scenarios.errors import ScenarioError
from ckptsim.scenarios.planning import with_parameters
from ckptsim.sim.rows import RunResult
from ckptsim.sim.world import run_world

MS, KIB = 1_000_000, 1024
FLEET = "dictionary_for_a_fleet"
ANSWER_NS = 5 * MS + 100 * KIB * 10  # 5 ms, and 100 KiB at 100 MB/s


def _run(name: str, **changed: object) -> RunResult:
    values = {path.replace("__", "."): value for path, value in changed.items()}
    result = run_world(with_parameters(by_name(name), values), seed=0)
    assert result.violations == []
    assert result.run.outcome == "completed"
    return result


def _figures(result: RunResult) -> dict[str, float]:
    return {row.figure: row.value for row in result.figures}


@pytest.mark.parametrize("partitions", [300, pytest.param(10_000, marks=pytest.mark.long)])
def test_the_work_of_a_run_grows_with_its_partitions_and_not_their_square(
    partitions: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A version is pushed, restarted and swapped to. Each partition is looked at a few times."""
    looked = count()
    known = StoreClient.known_state
    monkeypatch.setattr(StoreClient, "known_state", lambda *given: (next(looked), known(*given))[1])
    plain = {
        "store.input.partitions": partitions,
        "store.input.push_records": 1,
        "store.dictionary.size_bytes": "0 B",
        "store.dictionary.request": "0 s",
        "store.placement": "external",
        "faults": [{"kind": "crash_at", "at": "10 ms"}],
    }
    result = run_world(with_parameters(by_name(FLEET), plain), seed=0)
    assert (result.run.outcome, result.violations) == ("completed", [])
    assert result.run.records_committed == partitions
    assert next(looked) < 10 * partitions


def test_equal_copies_are_kept_once() -> None:
    """What P partitions say is one copy, as long as all are open and say the same."""
    keys = [TopicPartition("s_v1", index) for index in range(3)]
    copies, one = SharedCopies(), VersionCopy(chunked=True)
    for key in keys:
        copies.note(key, None)
    assert copies.of_topic("s_v1", 3) == ()
    copies.note(keys[0], one)
    assert copies.of_topic("s_v1", 3) == (one,)
    assert copies.of_topic("s_v1", 3, apart_from=keys[0]) == ()
    copies.note(keys[1], one)
    assert copies.of_topic("s_v1", 3, apart_from=keys[0]) == (one,)
    copies.note(keys[2], VersionCopy(chunked=False))
    assert copies.of_topic("s_v1", 3) is None
    copies.forget(keys[2])
    assert copies.of_topic("s_v1", 3) is None
    assert copies.of_topic("s_v1", 2) == (one,)


def test_copies_of_a_dictionary_are_compared() -> None:
    """Two partitions with other dictionaries disagree."""
    copies = (VersionCopy(compression_dictionary=text) for text in "ab")
    with pytest.raises(StoreError, match="compression_dictionary"):
        agreed(copies)


@pytest.mark.parametrize(("clients", "capacity"), [(500, 4), (500, 50), (7, 3), (1, 4)])
def test_the_last_of_a_burst_waits_for_all_before_it(clients: int, capacity: int) -> None:
    """N requests at once at an endpoint of capacity c: the last takes ceil(N/c) answers."""
    fleet = {"store__dictionary__clients": clients, "store__dictionary__capacity": capacity}
    found = _figures(_run(FLEET, **fleet))
    assert found["endpoint_longest_ns"] == -(-clients // capacity) * ANSWER_NS
    assert found["endpoint_queue"] == max(0, clients - capacity)
    assert found["endpoint_refused"] == 0


def test_clients_that_restart_one_by_one_do_not_queue() -> None:
    """Below its rate (capacity per answer) the endpoint answers nearly at once."""
    found = _figures(_run(FLEET, store__dictionary__spread="5 s"))
    assert found["endpoint_wait_ns"] == ANSWER_NS


def test_a_full_queue_refuses_and_clients_come_again() -> None:
    """A short queue refuses. All are answered in the end, later than with a long one."""
    found = _figures(_run(FLEET, store__dictionary__queue=20))
    assert found["endpoint_queue"] == 20
    assert found["endpoint_refused"] > 500
    assert found["endpoint_longest_ns"] > 125 * ANSWER_NS


def test_an_outage_refuses_every_client() -> None:
    """Requests during an outage are refused and repeated, and the run completes."""
    found = _figures(
        _run(
            "dictionary_outage",
            store__dictionary__request="5 ms",
            store__dictionary__clients=9,
        )
    )
    assert found["endpoint_refused"] > 9


def test_copies_cost_bytes_and_time_with_each_checkpoint() -> None:
    """A copy is written with each checkpoint after the start of push, and read by a start."""
    result = _run(FLEET, store__dictionary__kept="copied")
    size = 100 * KIB
    assert all(size < row.state_bytes < size + 1000 for row in result.checkpoints)
    read_ns, written_ns = 16 * size * 10 // 4, len(result.checkpoints) * size * 40
    assert _figures(result)["dictionary_ns"] == pytest.approx(written_ns + read_ns, rel=1e-6)
    assert "endpoint_queue" not in _figures(result)


def test_the_page_has_the_times_of_both_ways() -> None:
    """The row of four partitions is what the scenario finds, per size fetched and copied."""
    page = (Path(__file__).parents[2] / "docs" / "checkpoint-store.md").read_text(encoding="utf-8")
    (row,) = (line for line in page.splitlines() if line.startswith("| 4 | "))
    told = [cell.split() for cell in row.split("|")[2:-1]]
    shown_ns = [float(value) * {"ms": 1, "s": 1000}[unit] * MS for value, unit in told]
    found_ns = [
        _figures(
            _run(
                FLEET,
                store__input__partitions=4,
                store__dictionary__size_bytes=size,
                store__dictionary__kept=kept,
            )
        )["dictionary_ns"]
        for size in ("10 KiB", "100 KiB", "1 MiB")
        for kept in ("fetched", "copied")
    ]
    assert found_ns == pytest.approx(shown_ns, rel=0.01)


@pytest.mark.parametrize(
    ("changed", "found"),
    [
        ({"store.input.compressed": False}, "input.compressed"),
        (
            {"store.placement": "consumer_group_blob", "store.dictionary.kept": "copied"},
            "dictionary.size_bytes",
        ),
    ],
)
def test_a_dictionary_that_fits_nowhere_is_refused(changed: dict[str, object], found: str) -> None:
    """A dictionary without compressed values, or too large for a group, is the user's error."""
    with pytest.raises(ScenarioError, match=found):
        with_parameters(by_name(FLEET), changed)
