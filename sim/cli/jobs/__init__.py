"""Verbs of real jobs: record them, make scenarios of them, predict, change, advise."""
