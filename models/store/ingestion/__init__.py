"""The ingestion of one partition: its core, its events and effects."""

from ckptsim.models.store.ingestion.ingestion import PartitionIngestion as PartitionIngestion
