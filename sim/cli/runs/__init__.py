"""Verbs that run scenarios, search them for violations, and hold cores against vectors."""
