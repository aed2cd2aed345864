"""Tests of faults and failovers of jobs on buffers."""
