"""A redirect of some call sites to the user's service, and of the others to the built-in one.

Before the final plan the redirect had to catch every path by hand.  About a dozen call sites went
to the storage engine directly, past the metadata service: the recovery hook (get, clear and put),
several reads of version state, the drop of a partition.  A clear that misses the user's service is
the dangerous one: after a re-bootstrap the built-in record is reset while the user's still says
"resume at 1,000,000", and everything before is lost without a word.

Source: linkedin/venice at 77ea837f47, `DaVinciRecordTransformer.onRecovery`,
`AbstractStorageEngine.dropPartition`, `StoreIngestionTask`.
"""

from __future__ import annotations

from enum import IntEnum

from tests.store.core.generations.v1 import LiveState, MetadataService


class CallSite(IntEnum):
    """Who asks for the checkpoint of a partition, and what for."""

    SUBSCRIBE_READS = 0
    SYNC_WRITES = 1
    RECOVERY_READS = 2
    RECOVERY_CLEARS = 3
    DROP_CLEARS = 4


# What a redirect of the metadata service alone catches.
METADATA_SERVICE_ONLY = (CallSite.SUBSCRIBE_READS, CallSite.SYNC_WRITES)


class RedirectedMetadata:
    """Sends the call sites that were redirected to the custom service, all others to the built-in.

    With every call site redirected it is whole. With fewer it leaks.
    """

    def __init__(
        self,
        custom: MetadataService,
        built_in: MetadataService,
        *,
        redirected: tuple[CallSite, ...] = tuple(CallSite),
    ) -> None:
        self._custom = custom
        self._built_in = built_in
        self._redirected = redirected

    def get(self, site: CallSite, topic: str, partition: int) -> LiveState:
        """Return the state that this call site sees."""
        return self._service(site).get(topic, partition)

    def put(self, site: CallSite, topic: str, partition: int, state: LiveState) -> None:
        """Store a state where this call site writes."""
        self._service(site).put(topic, partition, state)

    def clear(self, site: CallSite, topic: str, partition: int) -> None:
        """Clear the state that this call site reaches."""
        self._service(site).clear(topic, partition)

    def _service(self, site: CallSite) -> MetadataService:
        return self._custom if site in self._redirected else self._built_in
