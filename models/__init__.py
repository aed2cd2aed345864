"""Protocol cores: events in, effects out; no clock, no randomness, no I/O."""
