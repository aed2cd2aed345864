"""The rules of the checkpoint store: of the ingestion of one partition, and of a whole client."""

from ckptsim.sim.rules.store.ingestion import IngestionRules, drawn_ingestion
from ckptsim.sim.rules.store.walks import ClientRules, client, drawn_client

__all__ = ["ClientRules", "IngestionRules", "client", "drawn_client", "drawn_ingestion"]
