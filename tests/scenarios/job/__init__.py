"""Tests of the dialect of jobs."""
