"""Tests of the barrier handlers: their states, every interleaving, the tracker."""
