"""Recordings of running jobs: reading them, inferring a scenario, and what changes do to it."""
