"""Tests of the barrier, coordinator and recovery cores."""
