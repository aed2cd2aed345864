"""Tiny syncs in which everything happens at once, under every order of all that is simultaneous."""

import pytest

from ckptsim.scenarios import Scenario, sync
from ckptsim.sim.search import Subject, check

INSTANTLY = 1 << 50  # bytes per second: a line without any delay
ORDERS = 300


def _tiny(
    *faults: sync.SyncFault,
    partitions: int = 2,
    streams: int = 1,
    sockets: int = 2,
    medium: sync.Medium = sync.Medium.SOCKET,
    kind: sync.StateKind = sync.StateKind.STREAM,
    levels: sync.Levels = sync.Levels.COMPLETE,
) -> Subject:
    """A sync in which nothing takes any time."""
    model = sync.SyncModel(
        medium=medium,
        state_kind=kind,
        streams=tuple(
            sync.StreamTable(
                name=f"s{index}", records=2 * partitions, partition_records=2, record_bytes=1
            )
            for index in range(streams)
        ),
        source=sync.SourceTable(
            open_ns=0,
            open_spread=0.0,
            record_ns=0,
            packet_records=2,
            state_bytes=1,
            log_records=0 if kind is sync.StateKind.STREAM else 2,
            log_partition_records=2,
        ),
        sockets=sync.SocketTable(count=sockets, latency_ns=0, bandwidth_bytes_per_s=INSTANTLY),
        destination=sync.DestinationTable(
            record_ns=0,
            batch_records=2,
            upload_ns=0,
            upload_spread=0.0,
            upload_bandwidth_bytes_per_s=INSTANTLY,
            send_ns=0,
            send_spread=0.0,
            levels=levels,
            complete_ns=0,
            heartbeat_ns=None,
        ),
    )
    scenario = Scenario(
        name="tiny", link="ordering", says="all at once", model=model, faults=faults
    )
    return Subject(scenario=scenario)


@pytest.mark.parametrize(
    ("sockets", "orders"),
    [(1, 5_040), pytest.param(2, 40_320, marks=pytest.mark.long)],
)
def test_smallest_sync_completes_under_every_order(sockets: int, orders: int) -> None:
    """All orders of one partition on one socket or two are explored. Their number is pinned."""
    tiny = _tiny(partitions=1, sockets=sockets)
    report = check(tiny, range(1), ties=("exhaustive",), orders=100_000)
    assert report.unexplored == []
    assert report.unexpected == []
    assert report.outcomes == {"completed": orders}


@pytest.mark.parametrize(
    "subject",
    [
        pytest.param(_tiny(), id="two sockets"),
        pytest.param(_tiny(sockets=1), id="one socket"),
        pytest.param(_tiny(medium=sync.Medium.STDIO), id="stdio"),
        pytest.param(_tiny(streams=2), id="two streams"),
        pytest.param(_tiny(kind=sync.StateKind.SNAPSHOT), id="snapshot"),
        pytest.param(_tiny(levels=sync.Levels.BOTH), id="both levels"),
        pytest.param(_tiny(sync.CrashPoint(point=sync.Point.AFTER_SEND)), id="crash"),
        pytest.param(_tiny(sync.FailSend()), id="failing send"),
    ],
)
def test_small_sync_completes_under_its_first_orders(subject: Subject) -> None:
    """The first few hundred orders of a richer sync break nothing."""
    report = check(subject, range(1), ties=("exhaustive",), orders=ORDERS)
    assert report.unexpected == []
    assert report.outcomes == {"completed": ORDERS}
