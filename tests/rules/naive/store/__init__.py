"""The rules of the store: of one partition's ingestion, a whole client, interfaces before it."""

from tests.rules.naive.store.generations import (
    GenerationCore,
    GenerationRules,
    drawn_generation,
)
from tests.rules.naive.store.ingestion import IngestionRules, drawn_ingestion
from tests.rules.naive.store.walks import ClientRules, client, drawn_client

__all__ = [
    "ClientRules",
    "GenerationCore",
    "GenerationRules",
    "IngestionRules",
    "client",
    "drawn_client",
    "drawn_generation",
    "drawn_ingestion",
]
