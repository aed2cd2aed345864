"""Mutants of the barrier cores: each lacks one safeguard that a known issue brought in."""

from tests.mutants.barriers.table import MUTANTS, whole_blob_per_channel

__all__ = ["MUTANTS", "whole_blob_per_channel"]
