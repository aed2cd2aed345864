"""Tests of the simulated sync."""
