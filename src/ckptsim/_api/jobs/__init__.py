"""Jobs of a real engine: recordings, imports, comparisons, advice, validation."""
