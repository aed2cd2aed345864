"""Tests of the page in which people walk through a run."""
