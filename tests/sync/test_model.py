"""What does not fit together in a sync is refused with path, finding and expectation."""

import pytest

from ckptsim.scenarios import ScenarioError, loads
from ckptsim.scenarios.dialect import schema
from ckptsim.scenarios.sync import SyncModel

HEAD = 'name = "bad"\nlink = "ordering"\nsays = "refused"\n'


@pytest.mark.parametrize(
    ("text", "path", "expected"),
    [
        ("[sync.source]\nlog_records = 5", "sync.source.log_records", 'state_kind is "stream"'),
        (
            '[sync]\nstreams = [{ name = "a" }, { name = "a" }]',
            "sync.streams[1].name",
            "streams[0] does not have",
        ),
        (
            '[sync.destination]\nend_wait = "300 d"\nend_poll = "1 ms"',
            "sync.destination.end_poll_ns",
            "end_wait divided by",
        ),
        (
            '[sync.destination]\nstall_limit = "300 d"\nheartbeat = "1 ms"',
            "sync.destination.heartbeat_ns",
            "stall_limit divided by",
        ),
        ('[[faults]]\nkind = "crash_point"\npoint = "later"', "faults[0].point", '"before_send"'),
        ("[sync.sockets]\ncount = 0", "sync.sockets.count", "1 to 256"),
        ('[sync]\nmedium = "tcp"', "sync.medium", '"socket"'),
    ],
)
def test_what_does_not_fit_is_refused(text: str, path: str, expected: str) -> None:
    """The problem names the path, and says the value expected there."""
    with pytest.raises(ScenarioError) as caught:
        loads(HEAD + text, source="bad.toml")
    assert [problem.path for problem in caught.value.problems] == [f"bad.toml: {path}"]
    assert expected in caught.value.problems[0].expected


def test_same_name_in_two_namespaces_is_no_clash() -> None:
    """A stream's identity is its name and namespace."""
    streams = 'streams = [{ name = "a" }, { name = "a", namespace = "b" }]'
    scenario = loads(f"{HEAD}[sync]\n{streams}", source="fine.toml")
    assert isinstance(scenario.model, SyncModel)
    assert len(scenario.model.streams) == 2


def test_every_parameter_is_described() -> None:
    """Each parameter of a sync says what it is and where its default comes from."""
    waiting: list[type] = [SyncModel]
    while waiting:
        for entry in schema(waiting.pop()):
            table = getattr(entry.kind, "table", None)
            if table is not None:
                waiting.append(table)
            else:
                assert entry.says, entry.name
                assert entry.source.startswith(("Source: ", "assumption")), entry.name
