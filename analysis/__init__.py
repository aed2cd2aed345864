"""Sweeps on Spark and the results from their tables: statistics, figures, reports."""
