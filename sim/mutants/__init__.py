"""Mutants of the cores: test doubles with one planted fault each, never for production."""
