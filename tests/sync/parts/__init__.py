"""Tests of the parts of a sync: socket, intervals, memory, plans of feeds."""
