"""Sweeps on Spark: plans, results, figures, and the verbs."""
