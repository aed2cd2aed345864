"""Tests of the checkpoint store, its model and its real components."""
