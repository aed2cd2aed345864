"""Naive second statements of the rules of our own cores, and what compares them in a run."""
