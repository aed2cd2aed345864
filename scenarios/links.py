"""The registry of links: one line each.

Anyone who adds a link adds its module and its line here.
"""

from __future__ import annotations

from functools import partial

from ckptsim.scenarios.composed import COMPOSED_FAULTS, Pipeline
from ckptsim.scenarios.composed import names as composed_names
from ckptsim.scenarios.job import Job, defaults
from ckptsim.scenarios.job.faults import JOB_FAULTS
from ckptsim.scenarios.job.names import ALL_GOALS, ALL_PROPERTIES
from ckptsim.scenarios.job.old_keys import renamed
from ckptsim.scenarios.spec import Link
from ckptsim.scenarios.store import STORE_FAULTS, StoreModel
from ckptsim.scenarios.store import names as store_names
from ckptsim.scenarios.sync import GOALS, PROPERTIES, SYNC_FAULTS, SyncModel

_job_link = partial(
    Link,
    key="job",
    model=Job,
    faults=JOB_FAULTS,
    goals=ALL_GOALS,
    properties=ALL_PROPERTIES,
    renamed=renamed,
)

_ALL: tuple[Link, ...] = (
    # One line per link, in the order of the chain.
    Link(
        name="ordering",
        says="a sync: states are returned in order and only after their records",
        key="sync",
        model=SyncModel,
        faults=SYNC_FAULTS,
        goals=GOALS,
        properties=PROPERTIES,
    ),
    _job_link(
        name="barriers",
        says="a job buffer by buffer: barriers, and state in flight between its tasks",
        defaults=defaults.BUFFERS,
    ),
    _job_link(
        name="barrier_protocol",
        says="barriers, in-flight records, crash and recovery, record by record",
        defaults=defaults.RECORDS,
    ),
    _job_link(
        name="final_checkpoint",
        says="bounded jobs: EndOfData, its acknowledgement, final checkpoints, stop-with-savepoint",
        defaults=defaults.RECORDS,
    ),
    Link(
        name="checkpoint_store",
        says="where a checkpoint is kept, relative to its data, and what a crash does to both",
        key="store",
        model=StoreModel,
        faults=STORE_FAULTS,
        goals=store_names.GOALS,
        properties=store_names.PROPERTIES,
        costs="store.costs",
    ),
    Link(
        name="composed",
        says="sockets, a job with barriers, a store and the platform in one world",
        key="pipeline",
        model=Pipeline,
        faults=COMPOSED_FAULTS,
        goals=composed_names.GOALS,
        properties=composed_names.PROPERTIES,
        costs="pipeline.store.costs",
        defaults=defaults.COMPOSED,
        renamed=renamed,
    ),
)

LINKS: dict[str, Link] = {link.name: link for link in _ALL}
