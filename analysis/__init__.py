"""Sweeps on Spark and what is made of their tables: statistics, figures, reports."""
