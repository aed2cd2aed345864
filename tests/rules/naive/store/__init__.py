"""The rules of the store: of one partition's ingestion, a whole client, interfaces before it."""

from ckptsim.sim.rules.store.generations import (
    GenerationCore,
    GenerationRules,
    drawn_generation,
)
from ckptsim.sim.rules.store.ingestion import IngestionRules, drawn_ingestion
from ckptsim.sim.rules.store.walks import ClientRules, client, drawn_client

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
