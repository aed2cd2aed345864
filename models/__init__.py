"""Protocol cores: events in, effects out; standard library only, no clock, no randomness, no I/O."""
