"""Verbs that list and explain, and the pages that they print."""
