"""Tests of what Spark makes of the rows of a sweep."""
