"""Mutants of the ordering core, by name."""

from tests.mutants.ordering.table import MUTANTS

__all__ = ["MUTANTS"]
