"""Tests that hold the drivers of the buffer plane against each other."""
