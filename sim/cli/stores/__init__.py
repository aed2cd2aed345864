"""Verbs of store files: what is in one, and what a store costs on this machine."""
