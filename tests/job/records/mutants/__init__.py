"""Tests that tell the mutants of a job apart, and show its hazards."""
