"""The registry of links: one line each; whoever adds a link adds its module and its line here."""

from __future__ import annotations

from scenarios.dataflow import DataflowModel
from scenarios.dataflow_names import GOALS as DATAFLOW_GOALS
from scenarios.jobs import BARRIER_PROTOCOL, FINAL_CHECKPOINT
from scenarios.spec import Link
from scenarios.sync import SyncModel
from scenarios.sync_faults import SYNC_FAULTS
from scenarios.sync_names import GOALS, PROPERTIES

_ALL: tuple[Link, ...] = (
    # One line per link, in the order of the chain.
    Link(
        name="ordering",
        says="a sync: states are returned in order and only behind their records",
        key="sync",
        model=SyncModel,
        faults=SYNC_FAULTS,
        goals=GOALS,
        properties=tuple(PROPERTIES),
    ),
    Link(
        name="barriers",
        says="a dataflow job: barriers, buffers and state in flight between its tasks",
        key="dataflow",
        model=DataflowModel,
        goals=DATAFLOW_GOALS,
    ),
    BARRIER_PROTOCOL,
    FINAL_CHECKPOINT,
)

LINKS: dict[str, Link] = {link.name: link for link in _ALL}
