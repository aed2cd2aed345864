"""Tests of the ordering protocol."""
