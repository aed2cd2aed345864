"""Tests of the loader: values, units, paths, writing back, malformed documents."""
