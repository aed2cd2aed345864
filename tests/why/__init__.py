"""Tests of `why`: causes that are known by construction."""
