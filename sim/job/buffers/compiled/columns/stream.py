"""Columns of a random stream: state and increment of PCG64, each as two words of 64 bits."""

STATE_HIGH, STATE_LOW, STEP_HIGH, STEP_LOW = range(4)
WIDTH = 4
