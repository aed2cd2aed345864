"""Tests of the store's core and its model: ingestion, generations, frames, state machine."""
