"""Deliberately faulty cores: each with one safeguard removed; test doubles, never production."""
