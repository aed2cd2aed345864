"""Threads of tasks: what wakes them, and how operators and sources continue."""
