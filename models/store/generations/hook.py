"""The hook by which a user's transformer names a checkpoint service of its own, or none."""

from __future__ import annotations

from typing import Protocol

from ckptsim.models.store.generations.v1 import MetadataService


class RecordTransformer(Protocol):
    """The part of a user's transformer that chooses where checkpoints go."""

    def storage_metadata_service(self) -> MetadataService | None:
        """Return the user's service; None leaves the built-in path unchanged."""
        ...


def metadata_for(
    transformer: RecordTransformer | None, built_in: MetadataService
) -> MetadataService:
    """Choose the service of an ingestion task, once, when it starts."""
    service = None if transformer is None else transformer.storage_metadata_service()
    return built_in if service is None else service
