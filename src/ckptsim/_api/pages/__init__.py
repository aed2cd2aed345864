"""Scenarios, topics, store files, and vectors."""
