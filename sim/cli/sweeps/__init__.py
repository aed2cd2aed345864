"""Verbs of sweeps on Spark and of the report that is made of their tables."""
