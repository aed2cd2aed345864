"""Tests of one task: both ends of its channels, its subtask core, random lives, mutants."""
