"""Mutants of the checkpoint store: each lacks one safeguard of placement or ingestion."""

from tests.mutants.store.table import MUTANTS

__all__ = ["MUTANTS"]
