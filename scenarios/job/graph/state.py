"""How tasks keep their state, and what of it a checkpoint writes and a restore reads."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, ClassVar

from ckptsim.scenarios.dialect import Limits
from ckptsim.scenarios.errors import Problem
from ckptsim.scenarios.fields import choice, duration_ns, flag, size_bytes
from ckptsim.scenarios.job.graph.edges import NO_SIZE
from ckptsim.scenarios.limits import not_in_pipelines

if TYPE_CHECKING:
    from ckptsim.scenarios.job.graph import Vertex

_FLINK = "Source: Apache Flink 1.20.3, "
_IN_PIPELINES = not_in_pipelines("its stages have no state")


class Backend(StrEnum):
    """What keeps the state of a task while it runs."""

    HEAP = "heap"
    ROCKSDB = "rocksdb"


class SavepointFormat(StrEnum):
    """What a savepoint is made of."""

    CANONICAL = "canonical"
    NATIVE = "native"


class ClaimMode(StrEnum):
    """Who owns the files that a job is submitted with."""

    NO_CLAIM = "no_claim"
    CLAIM = "claim"
    LEGACY = "legacy"


@dataclass(frozen=True, slots=True, kw_only=True)
class StateTable:
    """The state backend of a job, on buffers."""

    LIMITS: ClassVar[Limits] = NO_SIZE + _IN_PIPELINES

    backend: Backend = choice(
        "heap",
        Backend,
        says="objects on the heap, written whole; or RocksDB, of which a checkpoint flushes the "
        "memtable and uploads files",
        source=_FLINK + "state.backend.type",
    )
    incremental: bool = flag(
        False,
        says="a checkpoint uploads what is new: `state_delta`, or what follows from keys and "
        "updates; a restore reads everything; on records parts name files, and a registry "
        "deletes those that no retained checkpoint names",
        source=_FLINK + "execution.checkpointing.incremental",
        limits=_IN_PIPELINES,
    )
    changelog: bool = flag(
        False,
        says="updates go to a log that is uploaded all the time, so that a checkpoint waits for "
        "its end alone; a restore reads the log since the last materialization, too",
        source=_FLINK + "state.changelog.enabled",
    )
    materialization_interval_ns: int = duration_ns(
        "10 min",
        minimum="1 ms",
        maximum="10 d",
        says="between two uploads of the state behind a changelog, in the background",
        source=_FLINK + "state.changelog.periodic-materialize.interval",
    )
    persisted_bytes: int = size_bytes(
        "5 MiB",
        minimum=1,
        says="of a changelog after which it is uploaded before a checkpoint asks for it",
        source=_FLINK + "dstl.dfs.preemptive-persist-threshold",
    )
    local_recovery: bool = flag(
        False,
        says="a task that comes back to a task manager that is alive reads nothing from the "
        "storage",
        source=_FLINK + "execution.checkpointing.local-backup.enabled",
    )

    savepoint_format: SavepointFormat = choice(
        "canonical",
        SavepointFormat,
        says="a savepoint has the whole state in a file of its own, from which a restore builds "
        "files anew; or the files of the backend, as a checkpoint has",
        source=_FLINK + "SavepointFormatType",
    )
    claim: ClaimMode = choice(
        "no_claim",
        ClaimMode,
        says="a job that is submitted again leaves the files that it begins from alone, so its "
        "first incremental checkpoint uploads all; or its checkpoints refer to them",
        source=_FLINK + "execution.state-recovery.claim-mode",
    )

    def problems_with(self, vertices: Iterable[Vertex]) -> list[Problem]:
        """Return what does not hold between the table and the vertices."""
        found = []
        if self.incremental and self.backend is Backend.HEAP:
            expected = 'false, unless backend is "rocksdb": the heap is written whole'
            found.append(Problem("state.incremental", "true", expected))
        for index, vertex in enumerate(vertices):
            path = f"vertices[{index}]"
            says_what = vertex.keys or vertex.state_delta_bytes or vertex.subtask_state_bytes
            if self.incremental and vertex.state_bytes and not says_what:
                expected = "state_delta, or keys with value_bytes: what an incremental one uploads"
                found.append(Problem(f"{path}.state_delta_bytes", "nothing", expected))
            logs = self.changelog and vertex.state_bytes and vertex.value_bytes is None
            if logs and not vertex.is_source:
                expected = "a size, as a changelog has one for each update"
                found.append(Problem(f"{path}.value_bytes", "nothing", expected))
            if vertex.keys is not None and vertex.value_bytes is None:
                found.append(Problem(f"{path}.value_bytes", "nothing", "a size, beside keys"))
            if vertex.hot_keys > (vertex.keys or 0):
                expected = f"at most keys, {vertex.keys or 0}"
                found.append(Problem(f"{path}.hot_keys", str(vertex.hot_keys), expected))
            if vertex.hot_share and not vertex.hot_keys:
                found.append(Problem(f"{path}.hot_keys", "0", "some, beside hot_share"))
        return found
