"""Hosts of a job's cores, each driven by a port that a test writes down."""
