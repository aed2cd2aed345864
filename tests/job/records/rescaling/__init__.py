"""Tests of jobs that are rescaled, and of the page on FLIP-76."""
