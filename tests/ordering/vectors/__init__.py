"""Tests of the ordering vectors and of their vocabulary."""
