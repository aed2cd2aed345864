"""Searching for violations, on a small world with known faults."""
