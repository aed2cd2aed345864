"""Tests that distinguish the mutants of a job, and show its hazards."""
