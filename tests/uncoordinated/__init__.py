"""Tests of checkpoints without barriers: their cores, and jobs that take them."""
