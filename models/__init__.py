"""Protocol cores: events in, effects out. No clock, no randomness, no I/O."""
