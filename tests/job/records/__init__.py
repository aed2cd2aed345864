"""Tests of the job world: closed forms, properties under faults and ties, published scenarios."""
