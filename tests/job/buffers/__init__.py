"""Tests of the dataflow world."""
