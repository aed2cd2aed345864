"""Searching for violations, on a small world whose faults are known."""
