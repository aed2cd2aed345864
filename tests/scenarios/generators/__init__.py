"""Tests of the generators of random scenarios."""
