"""Tests of sweeps: chunks, limits, directories, with a world that costs nothing."""
