"""Published bugs as planted cores, and their remedies."""
