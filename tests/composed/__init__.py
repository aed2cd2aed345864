"""Tests of the composed pipeline."""
