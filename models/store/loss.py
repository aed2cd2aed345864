"""What a partition lost, measured against its log as it was written."""

from __future__ import annotations

from dataclasses import dataclass

from ckptsim.models.store.client import StoreClient
from ckptsim.models.store.medium import Area, Rows
from ckptsim.models.store.partition_state import NOTHING
from ckptsim.models.store.topics import TopicPartition


@dataclass(frozen=True, slots=True, kw_only=True)
class ContentLoss:
    """Keys that only the log implies, keys with another value, keys that only the content has."""

    missing: int
    stale: int
    ghost: int

    def text(self) -> str:
        """Say it in words."""
        return f"{self.missing} missing, {self.stale} stale, {self.ghost} ghosts"


def loss_of(client: StoreClient, key: TopicPartition) -> ContentLoss:
    """Compare the content of a partition with what its log implies.

    Open, that is the working content up to the position in memory; closed, the durable content up
    to the checkpoint.
    """
    replica = client.replicas.get(key)
    if replica is not None:
        return compare(client.logs[key].fold(replica.position), replica.content.rows())
    state = client.checkpoint(key)
    position = NOTHING if state is None else state.position
    return compare(client.logs[key].fold(position), client.medium.rows(Area.DATA, key))


def compare(implied: Rows, content: Rows) -> ContentLoss:
    """Count in how far a content departs from the implied one."""
    return ContentLoss(
        missing=sum(1 for name in implied if name not in content),
        stale=sum(1 for name in implied if name in content and content[name] != implied[name]),
        ghost=sum(1 for name in content if name not in implied),
    )
