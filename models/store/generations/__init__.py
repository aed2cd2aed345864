"""The two interfaces that came before the one of three operations, as adapters on top of it."""

from ckptsim.models.store.generations.redirect import CallSite, RedirectedMetadata
from ckptsim.models.store.generations.v1 import (
    LiveMetadata,
    LiveState,
    MetadataOverStore,
    MetadataService,
    metadata_for,
)
from ckptsim.models.store.generations.v2 import (
    EngineOverStore,
    EngineWithoutTopic,
    MetadataOverEngines,
)

__all__ = [
    "CallSite",
    "EngineOverStore",
    "EngineWithoutTopic",
    "LiveMetadata",
    "LiveState",
    "MetadataOverEngines",
    "MetadataOverStore",
    "MetadataService",
    "RedirectedMetadata",
    "metadata_for",
]
